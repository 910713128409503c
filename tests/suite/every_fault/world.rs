//! A shop with data for every case, and any number of copies of it.

use devstack::fault_proxy::Call;
use devstack::gateway::Invoke;
use devstack::{FaultProxy, StartConsumer};
use key_schema::entity::{Cart, CartLine};
use key_schema::value::ImageId;
use local::functions::start_all;
use local::pretend_provider::{Keys, Ledger};
use payments::stripe::signature;
use shop::payments::Payments;
use shop::queue::{DEAD_LETTERS, QUEUE, drain_source};
use shop::reconcile::reconciled;
use shop::stream::{Tail, is_wanted};

use super::guests::{FINISHED_GUEST, GUEST, GuestOfWorld, NEW_GUEST};
use super::kinds::{Injection, Service};
use crate::prelude::*;

/// The initial data of every copy.
pub struct Seed {
    pub items: Vec<Value>,
    /// A pending order of [`GUEST`].
    pub of_guest: Value,
    pub delivered_to_guest: Value,
    /// A pending order with a code and a gift card. `paid` and `flagged` are other orders.
    pub pending: Value,
    pub paid: Value,
    pub flagged: Value,
    /// An order that was cancelled after it was paid: its refund is due.
    pub cancelled: Value,
    /// A pending order whose payment at the provider is started, and one whose payment has to be captured.
    pub started: Value,
    /// A paid order whose authorization ended.
    pub lapsed: Value,
    pub due: Value,
    /// A delivered order that the provider was paid for, with a return of one of its units.
    pub delivered: Value,
    pub returned: Value,
    /// A shipment of an order that is paid.
    pub shipped: Value,
    /// A message about the payment of `started`, which is authorized.
    pub report: String,
    /// What the payment provider has recorded.
    pub ledger: Ledger,
    /// The message of an order that can be placed. `hopeless` is that of one that cannot.
    pub placeable: Vec<Value>,
    pub refusable: Vec<Value>,
    /// The stream records of the orders.
    pub records: Vec<Value>,
    /// An uploaded image of a thing, which is to be confirmed.
    pub uploaded: ImageId,
    /// An old image of a thing, and one of a spread.
    pub old: [ImageId; 2],
}

/// One copy of the shop.
pub struct World {
    pub shop: Shop,
    pub seed: Arc<Seed>,
    consumers: Vec<(String, StartConsumer)>,
}

/// The items of a table, without times.
pub type State = Vec<Value>;

/// The keys of the payment provider, which are the same in every world, so that one report is genuine in all.
fn keys() -> Keys {
    Keys { api_key: "sk_test".to_owned(), webhook_secret: "whsec_test".to_owned() }
}

/// The provider's signature of a report, which is genuine for five minutes.
pub fn signature_of(report: &str) -> String {
    signature::sign(&keys().webhook_secret, report.as_bytes(), Timestamp::now().as_second())
}

async fn open() -> Shop {
    Shop::open_silently_paying(Payments::start_with(keys()).await, |template| {
        drain_source(template).enabled = false;
        reconciled(template, 0, 100_000);
        for function in &mut template.functions {
            function.timeout_seconds = match function.handler.as_str() {
                // Each function keeps one second to answer. The drain keeps four to handle failed messages, and begins
                // no order with less than five left.
                "drain-writes" => 11,
                // It keeps ten for the order in progress, and needs time to find one before.
                "expire-orders" | "number-invoices" => 30,
                // It keeps ten to store its position.
                "reconcile-counts" => 25,
                // It begins no payment with less than twenty seconds left.
                "settle-payments" => 40,
                // They run for as long as they have time.
                "count-orders" | "publish-order-events" => 10,
                _ => 5,
            };
            for (name, value) in
                [("DRAIN_WRITE_UNITS", "100000"), ("VIEW_SHARDS", "1"), ("STATUS_SHARDS", "2"), ("INVOICE_SERIES", "F")]
            {
                function.environment.entry(name.to_owned()).and_modify(|old| value.clone_into(old));
            }
            // As on Lambda, so that a delayed answer comes too late.
            function.environment.insert("ATTEMPT_TIMEOUT_SECONDS".to_owned(), "3".to_owned());
        }
    })
    .await
}

impl World {
    /// Creates the first world, of which the others are copies.
    #[allow(clippy::too_many_lines, reason = "the seed of all cases")]
    pub async fn create() -> (Self, Arc<Seed>) {
        let shop = open().await;
        let (ada, admin) = (shop.customer("ada"), shop.admin());
        for id in ["ada", "bob", "zoe"] {
            shop.sign_up(id).await;
        }
        shop.product("thing", 1000, 100).await;
        shop.product("few", 1000, 2).await;
        shop.create("spread", json!({ "stock": 30, "cells": 3 })).await;
        shop.discount("TEN", 10, Some(5)).await;
        for card in ["GIFT", "USED"] {
            shop.gift_card(card, 700).await;
        }
        let cart = basket("thing", 3);
        ada.put("/customers/ada/cart", cart).await.expect(200);
        shop.put(&cart_of_bob()).await;

        let guest = json!({ "email": "grace@example.com", "name": "Grace" });
        for GuestOfWorld { secret, .. } in [NEW_GUEST, GUEST, FINISHED_GUEST] {
            shop.introduce(secret, guest.clone()).await.expect(201);
        }
        let of_guest = shop.guest_order(GUEST.secret, "first", things(1)).await.expect(201);
        let delivered_to_guest = shop.guest_order(GUEST.secret, "delivered", things(2)).await.expect(201);
        admin.capture(&delivered_to_guest, "bank-9").await.expect(200);
        for status in ["SHIPPED", "DELIVERED"] {
            admin.advance(&delivered_to_guest, status).await.expect(200);
        }
        let mut addressed = things(1);
        addressed["shipTo"] =
            json!({ "name": "Grace", "line1": "Way 1", "city": "Ulm", "postalCode": "89073", "country": "DE" });
        let order = shop.guest_order(FINISHED_GUEST.secret, "first", addressed).await.expect(201);
        admin.cancel(&order, json!({ "reason": "too late" })).await.expect(200);

        let dear = json!({
            "lines": [{ "productId": "thing", "quantity": 1 }, { "productId": "spread", "quantity": 2 }],
            "discountCode": "TEN", "giftCards": ["USED"],
        });
        let pending = ada.order("pending", dear).await.expect(201);
        let paid = ada.order("paid", things(2)).await.expect(201);
        admin.capture(&paid, "bank-1").await.expect(200);
        let flagged = ada.order("flagged", things(3)).await.expect(201);
        admin.flag(&flagged, "why").await.expect(200);
        let cancelled = ada.order("cancelled", things(1)).await.expect(201);
        admin.capture(&cancelled, "bank-3").await.expect(200);
        admin.cancel(&cancelled, json!({})).await.expect(200);
        let finished = shop.customer("zoe").order("finished", things(1)).await.expect(201);
        let at = |what| format!("/orders/{}/{what}", order_id(&finished));
        admin.put_if(&at("flag"), "*", json!({ "reason": "why" })).await.expect(200);
        admin.post(&at("cancellation"), json!({ "reason": "why" })).await.expect(200);
        let overdue = ada.order("overdue", things(1)).await.expect(201);
        let [started, due] = [ada.order("started", things(1)).await, ada.order("due", things(1)).await];
        let [started, due] = [started.expect(201), due.expect(201)];
        for order in [&started, &due] {
            let payment = shop.start_payment(order).await.expect(200);
            shop.confirm(&payment, "pm_card_visa").await;
        }
        // The same request again sees that the payment is authorized.
        shop.start_payment(&due).await.expect(200);
        admin.advance(&due, "SHIPPED").await.expect(200);
        let lapsed = ada.order("lapsed", things(1)).await.expect(201);
        let payment = shop.start_payment(&lapsed).await.expect(200);
        shop.confirm(&payment, "pm_card_visa").await;
        shop.start_payment(&lapsed).await.expect(200);
        shop.act_at_provider(&lapsed, "cancel").await;
        shop.start_payment(&lapsed).await.expect(200);
        let delivered = ada.order("delivered", things(3)).await.expect(201);
        let payment = shop.start_payment(&delivered).await.expect(200);
        shop.confirm(&payment, "pm_card_visa").await;
        shop.act_at_provider(&delivered, "capture").await;
        shop.start_payment(&delivered).await.expect(200);
        let at = |what| format!("/orders/{}/{what}", order_id(&delivered));
        for status in ["SHIPPED", "DELIVERED"] {
            admin.post(&at("status"), json!({ "status": status })).await.expect(200);
        }
        let one = basket("thing", 1).to_string();
        let key = [("idempotency-key", "returned")];
        let returned = ada.send(Method::POST, &at("returns"), &key, Some(one)).await.expect(201);
        let parts = ada.order("parts", things(2)).await.expect(201);
        admin.capture(&parts, "bank-4").await.expect(200);
        let one = json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "carrier": "Post" }).to_string();
        let shipments = format!("/orders/{}/shipments", order_id(&parts));
        let key = [("idempotency-key", "shipped")];
        let shipped = admin.send(Method::POST, &shipments, &key, Some(one)).await.expect(201);
        let report = shop.message_of(&started).to_string();
        let records = Tail::default().new_records(&shop).await.into_iter().filter(is_wanted).collect();

        order_later(&ada, "later", things(4)).await.expect(202);
        let placeable = shop.take_messages().await;
        order_later(&ada, "too many", things(1000)).await.expect(202);
        let refusable = shop.take_messages().await;
        shop.age(&overdue).await;
        // All of them are old enough for a number. Otherwise more would become so while the runs go on.
        let items = shop.dump().await;
        for (day, invoice) in (1..).zip(items.iter().filter(|item| item["EntityType"]["S"] == "invoice")) {
            let [order, id] = ["orderId", "invoiceId"].map(|name| &invoice[name]["S"]);
            let order = json!({ "orderId": order, "invoice": { "invoiceId": id } });
            shop.age_invoice(&order, &format!("2026-01-{day:02}T00:00:00.000Z")).await;
        }
        let now = Timestamp::now();
        let old = [(); 2].map(|()| ImageId::random(now.minus_seconds(48 * 60 * 60)));
        shop.set_images("thing", &[&old[0]]).await;
        shop.set_images("spread", &[&old[1]]).await;
        let items = shop.dump().await;
        let ledger = shop.ledger();
        let seed = Seed {
            items,
            of_guest,
            delivered_to_guest,
            pending,
            paid,
            flagged,
            cancelled,
            started,
            due,
            lapsed,
            delivered,
            returned,
            shipped,
            report,
            ledger,
            placeable,
            refusable,
            records,
            uploaded: ImageId::random(now),
            old,
        };
        let seed = Arc::new(seed);
        (Self::over(shop, Arc::clone(&seed)).await, seed)
    }

    /// Creates another world.
    pub async fn copy_of(seed: Arc<Seed>) -> Self {
        let world = Self::over(open().await, seed).await;
        world.reset(&[]).await;
        world
    }

    async fn over(shop: Shop, seed: Arc<Seed>) -> Self {
        for (product, image) in [("thing", &seed.uploaded), ("thing", &seed.old[0]), ("spread", &seed.old[1])] {
            shop.put_image(product, image).await;
        }
        let consumers = start_all(&shop.endpoints(), shop.template()).expect("the functions start").consumers;
        Self { shop, seed, consumers }
    }

    /// Starts a consumer in a new execution environment.
    pub fn consumer(&self, name: &str) -> Invoke {
        let (_, start) = self.consumers.iter().find(|(known, _)| known == name).expect("it consumes events");
        start().expect("it starts")
    }

    /// Injects this fault into the next run.
    pub fn inject(&self, injection: &Injection) {
        let Injection { service, after, only, fault, times, .. } = injection;
        let matching = only.clone().map_or_else(Match::any, Match::recorded);
        self.fault_proxy(*service).inject_after(*after, matching, fault.clone(), *times);
    }

    /// Removes all faults, and waits until no call is in progress.
    pub async fn heal(&self) {
        let all = [Service::DynamoDb, Service::Sqs, Service::EventBridge].map(|service| self.fault_proxy(service));
        for proxy in all {
            proxy.heal();
        }
        until("no call is under way", async || all.iter().all(|proxy| proxy.is_idle())).await;
    }

    /// The calls since this was last called.
    pub fn take_calls(&self) -> Vec<(Service, Call)> {
        let all = [Service::DynamoDb, Service::Sqs, Service::EventBridge];
        all.into_iter()
            .flat_map(|of| self.fault_proxy(of).take_calls().into_iter().map(move |call| (of, call)))
            .collect()
    }

    /// Whether the payment provider knew this intent at the beginning.
    pub fn began_with(&self, intent: &str) -> bool {
        self.seed.ledger.intents.contains_key(intent)
    }

    /// Restores the initial data. `now` is the current content of the table.
    pub async fn reset(&self, now: &[Value]) {
        let by_key = |items: &[Value]| -> BTreeMap<String, Value> {
            items.iter().map(|item| (format!("{} {}", item["PK"], item["SK"]), item.clone())).collect()
        };
        let (now, then) = (by_key(now), by_key(&self.seed.items));
        let deletes = now
            .iter()
            .filter(|(key, _)| !then.contains_key(*key))
            .map(|(_, item)| json!({ "DeleteRequest": { "Key": { "PK": item["PK"], "SK": item["SK"] } } }));
        let puts = then.iter().filter(|(key, item)| now.get(*key) != Some(item));
        let puts = puts.map(|(_, item)| json!({ "PutRequest": { "Item": item } }));
        let writes: Vec<_> = deletes.chain(puts).collect();
        self.shop.payments().provider.restore(self.seed.ledger.clone());
        for some in writes.chunks(25) {
            let batch = json!({ "RequestItems": { self.shop.table(): some } });
            let answer = self.shop.dynamodb("BatchWriteItem", &batch).await;
            assert!(answer["UnprocessedItems"].as_object().is_none_or(serde_json::Map::is_empty), "{answer}");
        }
        if self.take_calls().iter().any(|(service, _)| *service == Service::Sqs) {
            for queue in [QUEUE, DEAD_LETTERS] {
                self.shop.sqs("PurgeQueue", queue, json!({})).await;
            }
        }
    }

    /// Whether the table has its initial content, to the byte.
    pub fn is_unchanged(&self, now: &[Value]) -> bool {
        now == self.seed.items
    }

    fn fault_proxy(&self, service: Service) -> &FaultProxy {
        let [queues, bus] = self.shop.service_proxies();
        match service {
            Service::DynamoDb => self.shop.fault_proxy(),
            Service::Sqs => queues,
            Service::EventBridge => bus,
        }
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The items without times, sorted by key. Of each stock only the sum of its units, because their distribution over the
/// cells depends on conflicts. An audit checks the cells.
pub fn timeless(items: &[Value]) -> State {
    let is_cell = |item: &&Value| item["EntityType"]["S"] == "stock" || item["EntityType"]["S"] == "stockCell";
    let mut units = BTreeMap::<String, i64>::new();
    for cell in items.iter().filter(is_cell) {
        let available = text(&cell["available"]["N"]).parse::<i64>().expect("a number");
        *units.entry(text(&cell["productId"]["S"]).to_owned()).or_default() += available;
    }
    let mut items: Vec<_> = items.iter().filter(|item| !is_cell(item)).cloned().collect();
    items.iter_mut().for_each(forget_moments);
    items.extend(units.into_iter().map(|(product, units)| json!({ "stock of": product, "units": units })));
    items
}

/// A cart with a version that the cases know.
fn cart_of_bob() -> Cart {
    let line = json!({ "productId": "thing", "quantity": 3, "whenAdded": { "price": eur(1000) } });
    let line: CartLine = serde_json::from_value(line).expect("a line");
    let updated_at = Timestamp::now();
    let expires_at = updated_at.as_second() + 24 * 60 * 60;
    let customer_id = "bob".parse().expect("an id");
    Cart { customer_id, lines: vec![line], updated_at, version: 7, expires_at, erased_at: None }
}

/// Replaces every time in a value's texts and the port of images' URLs, and removes times of expiry, ids of requests and the random versions of carts
/// and address books.
pub fn forget_moments(value: &mut Value) {
    const LENGTH: usize = "2026-11-21T09:30:00.000Z".len();
    match value {
        Value::String(text) => {
            if let Some((_, path)) = text.split_once("/till-local-images-bucket/") {
                *text = format!("<bucket>/{path}");
            }
            let mut at = 0;
            while let Some(part) = text.get(at..at + LENGTH) {
                if part.as_bytes()[10] == b'T' && part.parse::<Timestamp>().is_ok() {
                    text.replace_range(at..at + LENGTH, "<then>");
                }
                at += 1;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(forget_moments),
        Value::Object(fields) => {
            let kind = fields.get("EntityType").and_then(|kind| kind["S"].as_str()).unwrap_or_default();
            let mut random = vec!["expiresAt", "requestId"];
            random.extend(["cart", "customerAddresses"].contains(&kind).then_some("version"));
            fields.retain(|name, _| !random.contains(&name.as_str()));
            fields.values_mut().for_each(forget_moments);
        }
        _ => {}
    }
}
