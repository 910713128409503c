//! The steps of the scenario.

use std::time::{SystemTime, UNIX_EPOCH};

use http_api::Kind;
use key_schema::value::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use shop::client::{Client, Reply};
use shop::until_some;
use uuid::Uuid;

use crate::till::{Person, Till};

/// Prices of the two products, in cents.
const BEANS: u64 = 1250;
const GRINDER: u64 = 4900;

/// The shop, the people in it, and the orders so far.
pub struct Scenario {
    till: Till,
    /// Part of every name that this run creates, because other runs may have used the same shop.
    run: String,
    admin: Client,
    ada: Person,
    bob: Person,
    /// The first day of the compared totals. `before` has the totals at the start.
    since: String,
    before: Totals,
    /// Ada's orders, in order of time.
    orders: Vec<Value>,
}

/// The totals of the whole shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Totals {
    orders: u64,
    units: u64,
    cents: u64,
}

fn line(product: &str, quantity: u64) -> Value {
    json!({ "productId": product, "quantity": quantity })
}

fn eur(amount: u64) -> Value {
    json!({ "amount": amount, "currency": "EUR" })
}

/// The day that is `ahead` days from now, in UTC.
fn day(ahead: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let then = i64::try_from((now + ahead * 24 * 60 * 60) * 1000).expect("a time");
    Timestamp::from_millisecond(then).expect("a time").day().to_string()
}

impl Scenario {
    pub async fn begin() -> Self {
        let till = Till::open().await;
        let run = Uuid::new_v4().simple().to_string()[..12].to_owned();
        let (admin, since) = (till.admin().await, day(0));
        let before = totals(&admin, &since).await;
        let ada = till.new_customer(&format!("ada-{run}")).await;
        let bob = till.new_customer(&format!("bob-{run}")).await;
        Self { till, run, admin, ada, bob, since, before, orders: Vec::new() }
    }

    fn named(&self, name: &str) -> String {
        format!("{name}-{}", self.run)
    }

    /// Ada's first order: two beans and one grinder.
    fn basket(&self) -> Value {
        json!({ "lines": [line(&self.named("beans"), 2), line(&self.named("grinder"), 1)] })
    }

    pub async fn customers_sign_up(&mut self) {
        for (person, name) in [(&self.ada, "ada"), (&self.bob, "bob")] {
            let name = self.named(name);
            let body = json!({ "username": name, "email": format!("{name}@example.com"), "name": name });
            let customer = person.client.post("/customers", body).await.expect(201);
            assert_eq!(customer["customerId"], person.id);
            assert_eq!(person.client.get(&format!("/customers/{}", person.id)).await.expect(200)["name"], name);
        }
    }

    pub async fn the_back_office_creates_a_catalogue(&mut self) {
        for (name, price, stock) in [("beans", BEANS, 5), ("grinder", GRINDER, 3)] {
            let body = json!({
                "productId": self.named(name), "name": name, "description": "", "category": self.named("coffee"),
                "price": eur(price), "stock": stock,
            });
            self.admin.post("/products", body).await.expect(201);
        }
    }

    pub async fn the_catalogue_is_public(&mut self) {
        let nobody = self.till.nobody();
        let found = nobody.walk(&format!("/products?category={}", self.named("coffee")), 1).await;
        let found: Vec<&Value> = found.iter().map(|product| &product["productId"]).collect();
        assert_eq!(found, [&json!(self.named("beans")), &json!(self.named("grinder"))]);
        assert_eq!(self.available("beans").await, 5);
    }

    pub async fn an_order_is_placed(&mut self) {
        let reply = self.ada.client.order(&self.named("first"), self.basket()).await;
        assert_eq!(reply.header("idempotent-replayed"), None);
        let order = reply.expect(201);
        assert_eq!((&order["status"], &order["total"]), (&json!("PENDING"), &eur(2 * BEANS + GRINDER)));
        assert_eq!((self.available("beans").await, self.available("grinder").await), (3, 2));
        self.orders.push(order);
    }

    pub async fn the_same_order_is_placed_once(&mut self) {
        let reply = self.ada.client.order(&self.named("first"), self.basket()).await;
        assert_eq!(reply.header("idempotent-replayed"), Some("true"));
        assert_eq!(reply.expect(201), self.orders[0]);
        assert_eq!(self.available("beans").await, 3);
    }

    pub async fn another_order_under_its_key_is_refused(&mut self) {
        let other = json!({ "lines": [line(&self.named("beans"), 1)] });
        self.ada.client.order(&self.named("first"), other).await.problem(Kind::IdempotencyKeyReused);
    }

    pub async fn an_order_beyond_the_stock_is_refused(&mut self) {
        let too_many = json!({ "lines": [line(&self.named("grinder"), 3)] });
        self.ada.client.order(&self.named("greedy"), too_many).await.problem(Kind::OutOfStock);
        assert_eq!(self.available("grinder").await, 2);
    }

    pub async fn a_queued_order_is_placed(&mut self) {
        let body = json!({ "lines": [line(&self.named("grinder"), 2)] });
        let key = self.named("second");
        let headers = [("idempotency-key", key.as_str()), ("prefer", "respond-async")];
        let reply: Reply = self.ada.client.send(Method::POST, "/orders", &headers, Some(body.to_string())).await;
        let location = reply.header("location").expect("a location").to_owned();
        let queued = reply.expect(202);
        assert_eq!((&queued["status"], location), (&json!("QUEUED"), order_path(&queued)));
        let order = until_some("the order no longer waits", async || {
            let order = self.ada.client.get(&order_path(&queued)).await.expect(200);
            (order["status"] != "QUEUED").then_some(order)
        });
        let order = order.await;
        assert_eq!((&order["status"], &order["total"]), (&json!("PENDING"), &eur(2 * GRINDER)));
        assert_eq!(self.available("grinder").await, 0);
        self.orders.push(order);
    }

    pub async fn orders_are_listed_page_by_page(&mut self) {
        let listed = self.ada.client.walk(&format!("/customers/{}/orders", self.ada.id), 1).await;
        let listed: Vec<&Value> = listed.iter().map(|order| &order["orderId"]).collect();
        let newest_first: Vec<&Value> = self.orders.iter().rev().map(|order| &order["orderId"]).collect();
        assert_eq!(listed, newest_first);
    }

    pub async fn the_stream_has_counted_every_order(&mut self) {
        let cents = 2 * BEANS + 3 * GRINDER;
        let stats = json!({ "orders": 2, "spent": [eur(cents)] });
        let ada = until_some("ada's orders are counted", async || {
            let ada = self.ada.client.get(&format!("/customers/{}", self.ada.id)).await.expect(200);
            (ada["stats"]["orders"] == 2).then_some(ada)
        });
        assert_eq!(ada.await["stats"], stats);
        let grinder = self.admin.get(&format!("/products/{}/stats", self.named("grinder"))).await.expect(200);
        let of_grinder = [&grinder["orders"], &grinder["units"], &grinder["revenue"]];
        assert_eq!(of_grinder, [&json!(2), &json!(3), &json!([eur(3 * GRINDER)])]);
        let Totals { orders, units, cents: earlier } = self.before;
        let expected = Totals { orders: orders + 2, units: units + 5, cents: earlier + cents };
        assert_eq!(totals(&self.admin, &self.since).await, expected);
    }

    pub async fn an_invalid_message_becomes_a_dead_letter(&mut self) {
        let body = format!("no order {}", self.run);
        self.till.send_to_queue(&body).await;
        let letter = self.till.take_dead_letter(&body).await;
        let reason = letter["MessageAttributes"]["reason"]["StringValue"].as_str().expect("a reason");
        assert!(reason.starts_with("the message is not an order"), "{reason}");
    }

    pub async fn no_customer_sees_another_customers_orders(&mut self) {
        let path = order_path(&self.orders[0]);
        self.bob.client.get(&path).await.problem(Kind::NotFound);
        self.admin.get(&path).await.expect(200);
    }

    /// What the gateway refuses by itself looks the same here and there, so that a page which works at the laptop works on
    /// AWS. Not compared is `www-authenticate`, which `MiniStack` leaves out.
    pub async fn the_gateway_answers_as_aws_does(&mut self) {
        let nobody = self.till.nobody();
        let path = order_path(&self.orders[0]);
        nobody.get(&path).await.of_gateway(401);
        nobody.with_token("not.a.token").get(&path).await.of_gateway(401);
        self.ada.client.get("/orders?status=PENDING").await.of_gateway(403);
        for unknown in ["/nothing", "/orders/none/of/these"] {
            nobody.get(unknown).await.of_gateway(404);
        }
        nobody.delete("/orders").await.of_gateway(404);
    }

    async fn available(&self, product: &str) -> u64 {
        let product = self.till.nobody().get(&format!("/products/{}", self.named(product))).await.expect(200);
        product["available"].as_u64().expect("a number")
    }
}

fn order_path(order: &Value) -> String {
    format!("/orders/{}", order["orderId"].as_str().expect("an id"))
}

async fn totals(admin: &Client, since: &str) -> Totals {
    let days = admin.get(&format!("/totals?from={since}&to={}", day(1))).await.expect(200);
    let mut sum = Totals { orders: 0, units: 0, cents: 0 };
    for day in days["items"].as_array().expect("days") {
        sum.orders += day["orders"].as_u64().expect("a number");
        sum.units += day["units"].as_u64().expect("a number");
        let revenue = day["revenue"].as_array().expect("sums").iter().filter(|sum| sum["currency"] == "EUR");
        sum.cents += revenue.map(|sum| sum["amount"].as_u64().expect("a number")).sum::<u64>();
    }
    sum
}
