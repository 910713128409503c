//! A record of all orders of a shop, with which its counts are compared.

use crate::prelude::*;

const CUSTOMERS: [&str; 3] = ["ada", "bob", "eve"];
const PRODUCTS: [(&str, &str); 5] = [("cup", "EUR"), ("pot", "EUR"), ("tea", "EUR"), ("map", "USD"), ("pen", "USD")];

/// Every order as the shop answered it, with its current status.
pub struct Book {
    orders: Vec<Value>,
    since: String,
}

type Sums = BTreeMap<String, u64>;

fn money(sums: &Sums) -> Value {
    let sums = sums.iter().filter(|(_, amount)| **amount > 0);
    sums.map(|(currency, amount)| json!({ "amount": amount, "currency": currency })).collect()
}

fn add(sums: &mut Sums, money: &Value) {
    let currency = money["currency"].as_str().expect("a currency").to_owned();
    *sums.entry(currency).or_default() += money["amount"].as_u64().expect("an amount");
}

impl Book {
    pub async fn open(shop: &Shop) -> Self {
        for customer in CUSTOMERS {
            shop.sign_up(customer).await;
        }
        for (at, (product, currency)) in PRODUCTS.into_iter().enumerate() {
            let price = json!({ "amount": 130 + 77 * at, "currency": currency });
            shop.create(product, json!({ "price": price, "stock": 1_000_000 })).await;
        }
        shop.discount("TEN", 10, None).await;
        shop.gift_card("GIFT", 1_000_000).await;
        Self { orders: Vec::new(), since: Timestamp::now().day().to_string() }
    }

    pub async fn of(shop: &Shop, seed: u64, rounds: u32) -> Self {
        let (mut book, mut rng) = (Self::open(shop).await, fastrand::Rng::with_seed(seed));
        for _ in 0..rounds {
            book.write(shop, &mut rng).await;
        }
        book
    }

    /// Places some orders, and changes the status of others.
    pub async fn write(&mut self, shop: &Shop, rng: &mut fastrand::Rng) {
        for _ in 0..rng.usize(1..5) {
            match rng.u8(..7) {
                0..=3 => self.place(shop, rng).await,
                4 | 5 => self.call_off(shop, rng).await,
                _ => self.go_on(shop, rng).await,
            }
        }
    }

    /// Places this order of ada.
    pub async fn place_this(&mut self, shop: &Shop, key: &str, body: Value) {
        self.orders.push(shop.customer("ada").order(key, body).await.expect(201));
    }

    async fn place(&mut self, shop: &Shop, rng: &mut fastrand::Rng) {
        let currency = if rng.u8(..3) == 0 { "USD" } else { "EUR" };
        let mut lines: Vec<_> = PRODUCTS.iter().filter(|(_, of)| *of == currency).collect();
        rng.shuffle(&mut lines);
        lines.truncate(rng.usize(1..=lines.len()));
        let lines: Vec<_> =
            lines.into_iter().map(|(product, _)| json!({ "productId": product, "quantity": rng.u8(1..4) })).collect();
        let mut body = json!({ "lines": lines });
        if rng.bool() {
            body["discountCode"] = json!("TEN");
        }
        if currency == "EUR" && rng.bool() {
            body["giftCards"] = json!(["GIFT"]);
        }
        let key = format!("k{}", self.orders.len());
        self.orders.push(shop.customer(rng.choice(CUSTOMERS).expect("one")).order(&key, body).await.expect(201));
    }

    async fn call_off(&mut self, shop: &Shop, rng: &mut fastrand::Rng) {
        let Some(order) = rng.choice(&mut self.orders) else { return };
        let reply = shop.admin().cancel(order, json!({})).await;
        if reply.status == 200 {
            order["status"] = reply.body["status"].clone();
        }
    }

    async fn go_on(&mut self, shop: &Shop, rng: &mut fastrand::Rng) {
        let Some(order) = rng.choice(&mut self.orders) else { return };
        let admin = shop.admin();
        let reply = match order["status"].as_str().expect("a status") {
            "PENDING" => {
                admin.capture(order, "r").await.expect(200);
                order["status"] = json!("PAID");
                return;
            }
            "PAID" => admin.advance(order, "SHIPPED").await,
            "SHIPPED" => admin.advance(order, "DELIVERED").await,
            _ => return,
        };
        order["status"] = reply.expect(200)["status"].clone();
    }

    /// The orders that are not cancelled.
    fn standing(&self) -> impl Iterator<Item = &Value> {
        self.orders.iter().filter(|order| order["status"] != "CANCELLED")
    }

    /// Compares every count that the API shows with the orders.
    pub async fn check(&self, shop: &Shop) {
        let admin = shop.admin();
        for customer in CUSTOMERS {
            let (mut orders, mut spent) = (0, Sums::new());
            for order in self.standing().filter(|order| order["customerId"] == customer) {
                orders += 1;
                add(&mut spent, &order["total"]);
            }
            let shown = admin.get(&format!("/customers/{customer}")).await.expect(200);
            assert_eq!(shown["stats"], json!({ "orders": orders, "spent": money(&spent) }), "{customer}");
        }
        for (product, _) in PRODUCTS {
            let (mut orders, mut units, mut revenue) = (0, 0, Sums::new());
            let lines = self.standing().flat_map(|order| order["lines"].as_array().expect("lines"));
            for line in lines.filter(|line| line["productId"] == product) {
                orders += 1;
                units += line["quantity"].as_u64().expect("a number");
                add(&mut revenue, &line["amount"]);
            }
            let shown = admin.get(&format!("/products/{product}/stats")).await.expect(200);
            let expected = json!({
                "productId": product, "views": 0, "orders": orders, "units": units, "revenue": money(&revenue),
            });
            assert_eq!(shown, expected);
            let shown = admin.get(&format!("/products/{product}")).await.expect(200);
            assert_eq!(shown["stats"], json!({ "orders": orders, "units": units }), "{product}");
        }
        self.check_days(shop).await;
    }

    async fn check_days(&self, shop: &Shop) {
        let day = |order: &Value| order["placedAt"].as_str().expect("a time")[..10].to_owned();
        let until =
            Timestamp::from_millisecond((Timestamp::now().as_second() + 24 * 60 * 60) * 1000).expect("a time").day();
        let totals = shop.admin().get(&format!("/totals?from={}&to={until}", self.since)).await.expect(200);
        for shown in totals["items"].as_array().expect("items") {
            let of_day = |order: &&Value| shown["date"] == day(order);
            let (mut units, mut revenue) = (0, Sums::new());
            for order in self.standing().filter(of_day) {
                let lines = order["lines"].as_array().expect("lines");
                units += lines.iter().map(|line| line["quantity"].as_u64().expect("a number")).sum::<u64>();
                add(&mut revenue, &order["total"]);
            }
            let mut statuses = Vec::new();
            for status in ["PENDING", "PAID", "SHIPPED", "DELIVERED", "CANCELLED"] {
                let orders = self.orders.iter().filter(of_day).filter(|order| order["status"] == status).count();
                statuses.extend((orders > 0).then(|| json!({ "status": status, "orders": orders })));
            }
            let expected = json!({
                "date": shown["date"], "orders": self.standing().filter(of_day).count(), "units": units,
                "revenue": money(&revenue), "statuses": statuses,
            });
            assert_eq!(*shown, expected);
        }
    }
}
