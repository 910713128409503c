//! A shop and its provider, with faulty wires between them.

use std::sync::Mutex;

use futures_util::future::join_all;
use key_schema::entity::{Entity, Invoice, Order};
use local::pretend_provider::{Act, Switches};
use serde::de::DeserializeOwned;
use serde_dynamo::Item;
use shop::payment_laws::{self, Known};
use shop::payment_script::{Placing, Script, Step, Trouble, VISA, What};
use shop::provider::Faults;

use super::tally::Tally;
use crate::prelude::*;

/// The share of requests on the wires that suffer a fault.
const FAULTY: f64 = 0.3;

/// The share of invocations that are killed.
const KILLED: f64 = 0.2;

/// The share of calls of AWS that suffer each of some faults.
const FAULTY_CALLS: f64 = 0.02;

/// The most times that a customer sends the request for an order. On average, some three of ten fail.
const MOST_TRIES: usize = 40;

/// The runs of the schedule in which everything that is due must be done.
const MOST_SWEEPS: usize = 4;

pub struct World {
    shop: Shop,
    faults: Faults,
    captures_when_shipped: bool,
    tally: Mutex<Tally>,
}

/// An order of a schedule.
pub struct Purchase {
    pub order: Value,
    pub is_old: bool,
    /// The last answer to the request to start the payment, which has the client secret.
    payment: Mutex<Option<Value>>,
    returns: Mutex<Vec<String>>,
}

impl Purchase {
    pub fn id(&self) -> &str {
        order_id(&self.order)
    }

    /// So many units of the order's product.
    fn lines(&self, units: u64) -> Value {
        json!([{ "productId": self.order["lines"][0]["productId"], "quantity": units }])
    }
}

impl World {
    pub async fn open(captures_when_shipped: bool) -> Self {
        let when = if captures_when_shipped { "SHIPPED" } else { "DEMAND" };
        let (shop, faults) = Shop::open_paying_faulty(&[("CaptureWhen", when)]).await;
        Self { shop, faults, captures_when_shipped, tally: Mutex::default() }
    }

    pub fn shop(&self) -> &Shop {
        &self.shop
    }

    pub fn tally(&self) -> Tally {
        let tally = self.tally.lock().expect("no panic").clone();
        Tally { faults: self.faults.suffered(), killed: self.faults.kills.killed(), ..tally }
    }

    /// Runs a schedule, lets everything settle, and returns the complaints.
    pub async fn run(&self, script: &Script) -> Vec<String> {
        let Script { seed, orders, groups } = script;
        let product = format!("thing-{seed}");
        self.shop.product(&product, 1000, 10).await;
        for (position, placing) in orders.iter().enumerate() {
            if placing.by_gift_card > 0 {
                self.shop.gift_card(&gift_card(*seed, position), placing.by_gift_card).await;
            }
        }
        self.fail(*seed);
        let mut purchases = Vec::new();
        for (position, placing) in orders.iter().enumerate() {
            purchases.push(self.place(*seed, position, *placing).await);
        }
        let mut complaints = Vec::new();
        for group in groups {
            let steps = group.iter().map(|step| self.take(step, &purchases[step.order]));
            complaints.extend(join_all(steps).await.into_iter().flatten());
        }
        complaints.extend(self.settle(&purchases).await);
        let dump = self.shop.dump().await;
        for purchase in &purchases {
            let (end, broken) = self.judge(&dump, purchase);
            *self.tally.lock().expect("no panic").ends.entry(end).or_default() += 1;
            complaints.extend(broken);
        }
        complaints.extend(invariants::complaints(&self.shop).await);
        let scans = self.shop.fault_proxy().take_calls().into_iter().filter(|call| call.action == "Scan").count();
        assert_eq!(scans, 0, "a function scanned the table");
        self.tally.lock().expect("no panic").schedules += 1;
        complaints
    }

    /// An order's end in words, and the laws that it breaks.
    fn judge(&self, dump: &[Value], purchase: &Purchase) -> (String, Vec<String>) {
        let id = purchase.id();
        let (order, invoice): (Order, Invoice) = (stored(dump, id), stored(dump, id));
        let was_paid = self.shop.bus().events().iter().any(|event| {
            event["detail-type"] == "OrderStatusChanged"
                && event["detail"]["orderId"] == id
                && event["detail"]["to"] == "PAID"
        });
        let known = Known { is_old: purchase.is_old, was_paid, captures_when_shipped: self.captures_when_shipped };
        let ledger = self.shop.ledger();
        let intents: Vec<_> = ledger.of_order(id).collect();
        let broken = payment_laws::broken(&order, &invoice, &intents, known);
        (format!("{} {}", order.status, payment_laws::end_of(&invoice)), broken)
    }

    /// From now on things fail.
    fn fail(&self, seed: u64) {
        self.faults.begin(FAULTY, KILLED, seed);
        let [queues, bus] = self.shop.service_proxies();
        for (number, proxy) in (0..).zip([self.shop.fault_proxy(), queues, bus]) {
            for (more, fault) in (0..).zip([Fault::CutBefore, Fault::CutAfter, Fault::InternalError]) {
                proxy.inject_share(Match::any(), fault, FAULTY_CALLS, seed + 10 * number + more);
            }
        }
        let conflict = commit();
        self.shop.fault_proxy().inject_share(conflict, Fault::conflict(0), FAULTY_CALLS, seed);
    }

    /// From now on everything works.
    fn heal(&self) {
        self.faults.end();
        let [queues, bus] = self.shop.service_proxies();
        for proxy in [self.shop.fault_proxy(), queues, bus] {
            proxy.heal();
        }
    }

    /// Places an order: the customer repeats the request until it is answered.
    async fn place(&self, seed: u64, position: usize, placing: Placing) -> Purchase {
        let Placing { quantity, by_gift_card, is_old } = placing;
        let mut body = json!({
            "lines": [{ "productId": format!("thing-{seed}"), "quantity": quantity }],
            "expectedTotal": eur(quantity * 1000),
        });
        if by_gift_card > 0 {
            body["giftCards"] = json!([gift_card(seed, position)]);
        }
        for _ in 0..MOST_TRIES {
            let reply = self.shop.customer("ada").order(&format!("order-{seed}-{position}"), body.clone()).await;
            if reply.status == 201 {
                if is_old {
                    self.shop.age(&reply.body).await;
                }
                return Purchase { order: reply.body, is_old, payment: Mutex::default(), returns: Mutex::default() };
            }
            assert!([500, 503].contains(&reply.status), "{}", reply.body);
        }
        panic!("seed {seed}: an order was not placed in {MOST_TRIES} tries");
    }

    /// Takes one step. Returns a complaint if the answer is none of those that are allowed.
    async fn take(&self, step: &Step, purchase: &Purchase) -> Option<String> {
        let (admin, ada) = (self.shop.admin(), self.shop.customer("ada"));
        let at = |what: &str| format!("/orders/{}/{what}", purchase.id());
        let (reply, allowed): (_, &[u16]) = match step.what {
            What::Start => (self.start(purchase).await, &[200, 409]),
            What::Pay(card) => (self.pay(purchase, card).await, &[200, 400, 402, 409]),
            What::Cancel => (ada.post(&at("cancellation"), json!({})).await, &[200, 409]),
            What::CancelUnits(units) => {
                (ada.post(&at("cancellation"), json!({ "lines": purchase.lines(units) })).await, &[200, 409])
            }
            What::Return(units) => (self.request_return(purchase, units).await, &[200, 201, 409]),
            What::Receive { accepted } => {
                let id = purchase.returns.lock().expect("no panic").last().cloned()?;
                let verdict = if accepted { json!({ "restock": true }) } else { json!({ "reason": "used" }) };
                let mut body = json!({ "accepted": accepted });
                body.as_object_mut().expect("an object").extend(verdict.as_object().expect("an object").clone());
                (admin.post(&format!("/returns/{id}/receipt"), body).await, &[200, 409])
            }
            What::Ship => (admin.post(&at("status"), json!({ "status": "SHIPPED" })).await, &[200, 409]),
            What::Deliver => (admin.post(&at("status"), json!({ "status": "DELIVERED" })).await, &[200, 409]),
            What::Capture => (self.record(&admin, purchase, json!({})).await, &[200, 409]),
            What::Credit(amount) => {
                let body = json!({ "amount": eur(amount), "reason": "a scratch" }).to_string();
                let key = format!("credit-{amount}");
                let headers = [("idempotency-key", key.as_str())];
                (admin.send(Method::POST, &at("credits"), &headers, Some(body)).await, &[200, 409])
            }
            What::Close => {
                self.record_by_staff(purchase).await;
                return None;
            }
            What::RecordTransfer => (self.record(&admin, purchase, json!({ "reference": "bank" })).await, &[200, 409]),
            // A run that is killed, or whose first read fails, is answered with 400.
            What::Expire => (self.run_schedule("expire-orders").await, &[200, 400]),
            What::ExpireLapsed => {
                self.shop.age_payments_due().await;
                (self.run_schedule("expire-orders").await, &[200, 400])
            }
            What::Sweep => {
                self.shop.age_payments_due().await;
                (self.run_schedule("settle-payments").await, &[200, 400])
            }
            What::Lapse => {
                let ledger = self.shop.ledger();
                let newest = ledger.of_order(purchase.id()).next_back().map(|entry| entry.id.clone());
                // It is refused unless the intent is authorized.
                let lapsed =
                    newest.is_some_and(|id| self.shop.payments().provider.let_authorization_lapse(&id).is_ok());
                self.count(step, if lapsed { 200 } else { 400 });
                return None;
            }
            What::Trouble(trouble) => {
                self.count(step, if self.suffer(purchase, trouble).is_some() { 200 } else { 400 });
                return None;
            }
            What::Wait(milliseconds) => {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                return None;
            }
        };
        self.count(step, reply.status);
        let is_killed = reply.status == 500 && reply.body["message"].is_string();
        let is_allowed = allowed.contains(&reply.status) || reply.status == 503 || is_killed;
        (!is_allowed).then(|| format!("{step:?}: {} {}", reply.status, reply.body))
    }

    /// Lets something happen at the provider. `None` if it is not possible now.
    fn suffer(&self, purchase: &Purchase, trouble: Trouble) -> Option<()> {
        let act = trouble.act(self.shop.ledger().of_order(purchase.id()).next_back()?)?;
        self.shop.payments().provider.act(act).ok().map(drop)
    }

    /// The bank decides what is open, and staff close what is left, each thing with one request.
    async fn close(&self, purchases: &[Purchase]) {
        for purchase in purchases {
            // An inquiry first becomes a dispute.
            while self.suffer(purchase, Trouble::DisputeEnds { won: false }).is_some() {}
        }
        for purchase in purchases {
            self.staff(purchase, "payments", json!({})).await;
        }
        // A failure that the first sweep records has to age before it is tried under another number, and that may be refused
        // for good. Only then it is the staff's.
        for _ in 0..3 {
            self.quiet().await;
            self.shop.age_payments_due().await;
            self.shop.run_schedule("settle-payments").await.expect(200);
        }
        for purchase in purchases {
            self.record_by_staff(purchase).await;
        }
    }

    /// Staff record what they refunded, and write off what is missing.
    async fn record_by_staff(&self, purchase: &Purchase) {
        let reference = format!("back-{}", fastrand::u64(..));
        for (what, body) in [("refunds", json!({ "reference": reference })), ("write-offs", json!({}))] {
            self.staff(purchase, what, body).await;
        }
    }

    /// Staff close an invoice in this way, if it is open in this way.
    async fn staff(&self, purchase: &Purchase, what: &str, body: Value) {
        let path = format!("/invoices/{}/{what}", invoice_id(&purchase.order));
        let reply = loop {
            let reply = self.shop.admin().post(&path, body.clone()).await;
            // A function was killed, or the shop is busy.
            if ![500, 503].contains(&reply.status) {
                break reply;
            }
        };
        assert!([200, 409].contains(&reply.status), "{}", reply.body);
    }

    fn count(&self, step: &Step, status: u16) {
        let mut tally = self.tally.lock().expect("no panic");
        *tally.steps.entry((format!("{:?}", step.what), status)).or_default() += 1;
    }

    /// Starts or resumes the payment, and remembers the answer.
    async fn start(&self, purchase: &Purchase) -> Reply {
        let reply = self.shop.start_payment(&purchase.order).await;
        if reply.status == 200 {
            *purchase.payment.lock().expect("no panic") = Some(reply.body.clone());
        }
        reply
    }

    /// The customer pays at the provider with the client secret, once there is one.
    async fn pay(&self, purchase: &Purchase, card: &str) -> Reply {
        let reply = self.start(purchase).await;
        let known = purchase.payment.lock().expect("no panic").clone();
        match known {
            // The browser may still show the form of a payment that ended.
            Some(payment) if payment["clientSecret"].is_string() => {
                let (status, body) = self.shop.confirm(&payment, card).await;
                let is_paid = status == 200 && card == VISA;
                let is_declined = status == 402 && card != VISA;
                let is_refused = status == 400;
                assert!(is_paid || is_declined || is_refused, "{card}: {status} {body}");
                Reply { status, body, headers: BTreeMap::new() }
            }
            _ => reply,
        }
    }

    /// Asks to return units. Each time it is another return.
    async fn request_return(&self, purchase: &Purchase, units: u64) -> Reply {
        let key = format!("return-{}", fastrand::u64(..));
        let body = json!({ "lines": purchase.lines(units) }).to_string();
        let path = format!("/orders/{}/returns", purchase.id());
        let ada = self.shop.customer("ada");
        let reply = ada.send(Method::POST, &path, &[("idempotency-key", &key)], Some(body)).await;
        if let Some(id) = reply.body["returnId"].as_str() {
            purchase.returns.lock().expect("no panic").push(id.to_owned());
        }
        reply
    }

    /// Asks for the capture of the payment, or records one.
    async fn record(&self, admin: &Client, purchase: &Purchase, body: Value) -> Reply {
        let invoice = invoice_id(&purchase.order);
        admin.post(&format!("/invoices/{invoice}/payments"), body).await
    }

    async fn run_schedule(&self, function: &str) -> Reply {
        self.shop.run_schedule(function).await
    }

    /// Lets everything settle: webhooks arrive, orders expire, and what is due is done.
    async fn settle(&self, purchases: &[Purchase]) -> Option<String> {
        self.heal();
        _ = self.shop.payments().provider.act(Act::Switch(Switches::default()));
        self.quiet().await;
        self.close(purchases).await;
        self.shop.age_payments_due().await;
        let report = self.shop.run_schedule("expire-orders").await.expect(200);
        if report["failed"] != 0 {
            return Some(format!("orders do not expire: {report}"));
        }
        let mut last = Value::Null;
        for _ in 0..MOST_SWEEPS {
            self.shop.settle_payments().await;
            self.shop.age_payments_due().await;
            last = self.shop.run_schedule("settle-payments").await.expect(200);
            self.quiet().await;
            if last == json!({ "settled": 0, "failed": 0, "done": true }) {
                return None;
            }
        }
        // Refunds that staff must make stay in the list, and are not counted.
        Some(format!("payments stay due: {last}"))
    }

    /// Waits until nothing is under way between the shop and the provider.
    async fn quiet(&self) {
        let [queues, bus] = self.shop.service_proxies();
        until("no request is under way", async || {
            let is_idle = [self.shop.fault_proxy(), queues, bus].iter().all(|proxy| proxy.is_idle());
            is_idle && self.faults.are_idle() && self.shop.payments().provider.webhooks_waiting() == 0
        })
        .await;
    }
}

fn gift_card(seed: u64, position: usize) -> String {
    format!("CARD-{seed:010}-{position}")
}

/// The item of this kind in the collection of an order.
fn stored<T: Entity + DeserializeOwned>(dump: &[Value], order: &str) -> T {
    let is_wanted = |item: &&Value| item["EntityType"]["S"] == T::TYPE && item["orderId"]["S"] == order;
    let item = dump.iter().find(is_wanted).expect("an item");
    let item: Item = serde_json::from_value(item.clone()).expect("an item");
    serde_dynamo::from_item(item).expect("an entity")
}
