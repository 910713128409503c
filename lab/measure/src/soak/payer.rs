//! Everybody around card payments: customers who pay, staff, the customers' bank, and the provider's dashboard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use key_schema::value::Timestamp;
use local::pretend_provider::{Act, Entry, Status};
use reqwest::Method;
use serde_json::{Value, json};
use shop::payment_script::{Trouble, VISA, What, anything, story};

use super::books::State;
use super::shop::{Ask, Reply, Shop};
use super::shopper::Shopper;
use super::stack::PAY_WITHIN_MINUTES;
use super::storm::Storm;

/// The number of orders of one payer whose stories are not at their end.
const OPEN: usize = 4;

/// The most tries of what has to wait for something else, and the pause between them.
const TRIES: u8 = 40;
const A_WHILE: Duration = Duration::from_millis(250);

/// The answers to requests that somebody else may have made impossible.
const POSSIBLE: &[&str] = &["200", "201", "409 invalid-transition", "409 too-few-units", "409 amount-too-small"];

/// Places orders, and lets everybody do their part of the payments.
pub(super) struct Payer {
    shopper: Shopper,
    storm: Arc<Storm>,
    open: Vec<Bought>,
    done: Vec<Bought>,
}

struct Bought {
    place: usize,
    customer: usize,
    id: String,
    product: Value,
    story: std::vec::IntoIter<What>,
    /// The customer waits until this time.
    not_before: Option<Instant>,
    /// The intent and its client secret.
    form: Option<(String, String)>,
    returns: Vec<(String, u32)>,
}

impl Payer {
    pub(super) fn new(shopper: Shopper, storm: Arc<Storm>) -> Self {
        Self { shopper, storm, open: Vec::new(), done: Vec::new() }
    }

    fn random(&mut self) -> &mut Rng {
        &mut self.shopper.random
    }

    pub(super) async fn work(mut self, end: Instant) {
        while Instant::now() < end {
            if self.open.len() < OPEN {
                self.buy().await;
                continue;
            }
            if self.random().u8(..12) == 0 {
                self.close_own().await;
            }
            let now = Instant::now();
            let due = self.open.iter().position(|it| it.not_before.is_some_and(|at| at <= now));
            let any = self.random().usize(..OPEN);
            let at = due.unwrap_or(any);
            if due.is_none() && self.open[at].not_before.is_some() {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            let mut bought = self.open.swap_remove(at);
            bought.not_before = None;
            let what = bought.story.next();
            match what {
                Some(what) => {
                    self.take(&mut bought, what).await;
                    self.open.push(bought);
                }
                None => self.done.push(bought),
            }
            if self.random().u8(..3) == 0 {
                let is_open = self.random().bool();
                let list = if is_open { &mut self.open } else { &mut self.done };
                if !list.is_empty() {
                    let mut bought = list.swap_remove(self.shopper.random.usize(..list.len()));
                    let what = anything(self.random());
                    self.take(&mut bought, what).await;
                    if is_open { &mut self.open } else { &mut self.done }.push(bought);
                }
            }
        }
    }

    async fn buy(&mut self) {
        let Some((place, customer, order)) = self.shopper.place(true).await else { return };
        let id = order["orderId"].as_str().unwrap_or_default().to_owned();
        let product = order["lines"][0]["productId"].clone();
        let (mut story, mut not_before) = (story(self.random()), None);
        if self.random().u8(..6) == 0 {
            // About the moment in which the order expires.
            let time = u64::from(PAY_WITHIN_MINUTES) * 60_000 + self.random().u64(..3000);
            (story, not_before) =
                (vec![What::Pay(VISA), What::Ship], Some(Instant::now() + Duration::from_millis(time - 1500)));
        }
        let story = story.into_iter();
        let mut bought = Bought { place, customer, id, product, story, not_before, form: None, returns: Vec::new() };
        if bought.not_before.is_some() {
            self.take(&mut bought, What::Start).await;
        }
        self.open.push(bought);
    }

    async fn take(&mut self, bought: &mut Bought, what: What) {
        self.shopper.asked += 1;
        let (shop, key) = (Arc::clone(&self.shopper.shop), self.shopper.key());
        let (id, invoice) = (bought.id.clone(), format!("/invoices/inv-{}", bought.id));
        let (customer, admin) = (&shop.customers[bought.customer], &shop.admin);
        let at = |what: &str| format!("/orders/{id}/{what}");
        let send = async |kind, path: String, token: &str, body: Value| {
            shop.send(&Ask::new(kind, Method::POST, path, token).body(body).expecting(POSSIBLE)).await
        };
        let lines = |units: u64| json!([{ "productId": bought.product, "quantity": units }]);
        match what {
            What::Start => self.start(bought).await,
            What::Pay(card) => {
                self.start(bought).await;
                self.confirm(bought, card).await;
            }
            What::Cancel => {
                let reply = send("cancel by card", at("cancellation"), customer, json!({})).await;
                note_end(&shop, bought, &reply);
            }
            What::CancelUnits(units) => {
                let body = json!({ "lines": lines(units) });
                let reply = send("cancel units", at("cancellation"), customer, body).await;
                if reply.status == 200 {
                    let units = u32::try_from(units).unwrap_or_default();
                    shop.books.note(&id, |moved| moved.cancelled = moved.cancelled.max(units));
                }
                note_end(&shop, bought, &reply);
            }
            What::Return(units) => {
                let ask = Ask::new("return", Method::POST, at("returns"), customer).expecting(POSSIBLE);
                let reply = shop.send(&ask.header("idempotency-key", key).body(json!({ "lines": lines(units) }))).await;
                if let Some(one) = reply.body["returnId"].as_str() {
                    bought.returns.push((one.to_owned(), u32::try_from(units).unwrap_or_default()));
                }
            }
            What::Receive { accepted } => {
                let Some((one, units)) = bought.returns.pop() else { return };
                let restock = self.random().bool();
                let body = if accepted {
                    json!({ "accepted": true, "restock": restock })
                } else {
                    json!({ "accepted": false, "reason": "used" })
                };
                let reply = send("receive", format!("/returns/{one}/receipt"), admin, body).await;
                if reply.status == 200 && accepted {
                    shop.books.note(&id, |moved| moved.returned += units);
                    if !restock {
                        shop.books.supply(bought.product.as_str().unwrap_or_default(), -i64::from(units));
                    }
                }
            }
            What::Ship => _ = send("ship by card", at("status"), admin, json!({ "status": "SHIPPED" })).await,
            What::Deliver => _ = send("deliver by card", at("status"), admin, json!({ "status": "DELIVERED" })).await,
            What::Capture => {
                // The report of the payment may be under way.
                for _ in 0..TRIES {
                    let reply = send("ask for capture", format!("{invoice}/payments"), admin, json!({})).await;
                    if reply.status == 200 || !self.is_paid(&id) {
                        return;
                    }
                    tokio::time::sleep(A_WHILE).await;
                }
            }
            What::Credit(amount) => {
                let body = json!({ "amount": { "amount": amount, "currency": "EUR" }, "reason": "a scratch" });
                let ask = Ask::new("give back", Method::POST, at("credits"), admin).expecting(POSSIBLE);
                let reply = shop.send(&ask.header("idempotency-key", key).body(body)).await;
                if reply.status == 200 {
                    shop.books.note(&id, |moved| moved.allowed += i64::try_from(amount).unwrap_or_default());
                }
            }
            What::RecordTransfer => record(&shop, &id, "payments", &key).await,
            What::Close => self.close_own().await,
            What::Expire | What::ExpireLapsed => _ = shop.run_schedule("expire-orders").await,
            What::Sweep => _ = shop.run_schedule("settle-payments").await,
            What::Lapse => _ = self.happen(&id, |entry| Some(Act::Expire { intent: entry.id.clone() })),
            What::Trouble(trouble) => self.suffer(&id, trouble).await,
            What::Wait(time) => tokio::time::sleep(Duration::from_millis(time)).await,
        }
    }

    /// The customer starts or resumes the payment. The browser keeps the form of the last answer that had one.
    async fn start(&mut self, bought: &mut Bought) {
        let shop = &self.shopper.shop;
        let ask = Ask::new(
            "start payment",
            Method::POST,
            format!("/orders/{}/payment", bought.id),
            &shop.customers[bought.customer],
        );
        let reply = shop.send(&ask.expecting(POSSIBLE)).await;
        if let [Some(intent), Some(secret)] = ["intentId", "clientSecret"].map(|name| reply.body[name].as_str()) {
            bought.form = Some((intent.to_owned(), secret.to_owned()));
        }
    }

    /// The customer's browser sends the card to the provider, once.
    async fn confirm(&self, bought: &Bought, card: &str) {
        let Some((intent, secret)) = &bought.form else { return };
        let (shop, now) = (&self.shopper.shop, Timestamp::now());
        let url = format!("{}/v1/payment_intents/{intent}/confirm", self.storm.provider.url());
        let status = shop.post_form(&url, &[("client_secret", secret), ("payment_method", card)]).await;
        shop.books.answered("confirm", status.map_or("cut".to_owned(), |status| status.to_string()));
        if status == Some(200) {
            shop.books.note(&bought.id, |moved| moved.paid_at = Some(now));
        }
    }

    /// Lets an act happen with the newest intent of an order. `None` if it is not possible now.
    fn happen(&self, order: &str, act: impl FnOnce(&Entry) -> Option<Act>) -> Option<()> {
        let act = act(&self.storm.provider.newest_of(order)?)?;
        let name = format!("{act:?}").split(' ').next().unwrap_or_default().to_owned();
        let done = self.storm.provider.act(act.clone()).ok()?;
        let books = &self.shopper.shop.books;
        if matches!(act, Act::Refund { .. }) {
            let amount = done["amount"].as_i64().unwrap_or_default();
            books.note(order, |moved| moved.by_dashboard += amount);
        }
        books.answered("at the provider", name);
        Some(())
    }

    /// Lets a trouble happen. What it needs, such as a capture, may still be under way.
    async fn suffer(&self, order: &str, trouble: Trouble) {
        for _ in 0..TRIES {
            let is_paid = self.is_paid(order);
            if self.happen(order, |entry| trouble.act(entry)).is_some() || !is_paid {
                return;
            }
            tokio::time::sleep(A_WHILE).await;
        }
    }

    /// Whether the provider has the money of an order, reserved or captured.
    fn is_paid(&self, order: &str) -> bool {
        let entry = self.storm.provider.newest_of(order);
        entry.is_some_and(|it| matches!(it.status, Status::RequiresCapture | Status::Succeeded))
    }

    /// Staff read the list of payments due, and do what it asks of them about orders of this payer.
    async fn close_own(&mut self) {
        let shop = Arc::clone(&self.shopper.shop);
        for (id, work) in payments_due(&shop).await {
            if self.open.iter().chain(&self.done).any(|it| it.id == id) && self.random().bool() {
                self.shopper.asked += 1;
                let (key, choice) = (self.shopper.key(), self.random().u8(..));
                close(&shop, &self.storm, &id, &work, &key, choice).await;
            }
        }
    }
}

/// Notes that the order is cancelled, if the answer says so.
fn note_end(shop: &Shop, bought: &Bought, reply: &Reply) {
    if reply.status == 200 && reply.body["status"] == "CANCELLED" {
        shop.books.change(bought.place, State::Cancelled);
    }
}

/// The first hundred orders in the list of payments due, with what is to be done.
pub(super) async fn payments_due(shop: &Shop) -> Vec<(String, String)> {
    let reply = shop.send(&Ask::new("payments due", Method::GET, "/payments-due?limit=100", &shop.admin)).await;
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let lines = reply.body["items"].as_array();
    lines.into_iter().flatten().map(|line| (text(line, "orderId"), text(line, "work"))).collect()
}

/// Staff do what the list asks about an order.
pub(super) async fn close(shop: &Shop, storm: &Storm, order: &str, work: &str, key: &str, choice: u8) {
    match (work, choice % 3) {
        ("refund", _) => record(shop, order, "refunds", key).await,
        ("dispute", _) => {
            let entry = storm.provider.newest_of(order);
            let act = entry.and_then(|entry| Trouble::DisputeEnds { won: choice.is_multiple_of(2) }.act(&entry));
            _ = act.map(|act| storm.provider.act(act));
        }
        ("missing" | "lapsed", 0) => record(shop, order, "payments", key).await,
        ("missing" | "lapsed", 1) => {
            let ask = Ask::new("cancel by staff", Method::POST, format!("/orders/{order}/cancellation"), &shop.admin);
            shop.send(&ask.body(json!({})).expecting(POSSIBLE)).await;
        }
        ("missing" | "lapsed", _) => record(shop, order, "write-offs", key).await,
        _ => {}
    }
}

/// Staff record a payment, a refund or a write-off: first with a wrong amount, and then with the amount that the refusal
/// says.
async fn record(shop: &Shop, order: &str, what: &'static str, key: &str) {
    let mut amount = 0;
    loop {
        let mut body = json!({ "amount": { "amount": amount, "currency": "EUR" } });
        if what != "write-offs" {
            body["reference"] = json!(format!("bank-{key}"));
        }
        let ask = Ask::new(what, Method::POST, format!("/invoices/inv-{order}/{what}"), &shop.admin);
        let reply = shop.send(&ask.body(body).expecting(POSSIBLE)).await;
        if reply.status == 200 {
            let card = reply.body["payments"].as_array().and_then(|payments| payments.last());
            let in_all = card.and_then(|card| card["writtenOff"]["amount"].as_i64()).unwrap_or_default();
            shop.books.note(order, |moved| match what {
                "payments" => moved.received += amount,
                "refunds" => moved.refunded += amount,
                _ => moved.written_off = in_all,
            });
            return;
        }
        match reply.body["amount"]["amount"].as_i64() {
            Some(right) if right != amount => amount = right,
            _ => return,
        }
    }
}
