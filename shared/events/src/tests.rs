//! Whatever happens to orders and however the stream delivers it, the same changes make the same events, and no others.
#![allow(clippy::expect_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{
    Entity as _, Invoice, Order, OrderFlag, OrderLine, OrderStatus, Payment, PaymentState, PaymentStatus, Product,
    QueuedOrder, Refusal, Rejection, Settlement,
};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::{Currency, InvoiceId, Money, OrderId, RequestHash, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use serde::Serialize;
use serde_dynamo::{AttributeValue, Item, to_item};

use crate::{Draft, Event, KINDS, MOST_BYTES, MOST_ENTRIES, OrderPlaced, Subject, Waiting, draft_of, next_call};

/// A record of the stream, as far as it matters here.
type Record = crate::Record<'static>;

const PLACED_AT: &str = "2026-11-21T09:30:00.000Z";

fn record(name: &'static str, old: Item, new: Item) -> Record {
    Record { name, written_at: PLACED_AT.parse().expect("a time"), old, new }
}

/// The event of a record, with the lines of its order if it is placed.
fn event_of(record: &Record) -> Option<Event> {
    match draft_of(record.clone()).expect("it can be read")? {
        Draft::Event(event) => Some(event),
        Draft::Placed(order) => {
            Some(OrderPlaced::new(order, vec![line("cup"), line("pot")]).expect("its lines").into())
        }
    }
}

fn line(product: &str) -> OrderLine {
    OrderLine {
        product_id: product.parse().expect("an id"),
        name: format!("A {product}"),
        quantity: 1.try_into().expect("a quantity"),
        unit_price: eur(2399),
        amount: eur(2399),
    }
}

fn product(version: u64) -> Product {
    Product {
        product_id: "cup".parse().expect("an id"),
        name: "A cup".to_owned(),
        description: "For coffee.".to_owned(),
        category: "kitchen".to_owned().try_into().expect("a category"),
        price: eur(2399),
        initial_stock: 10,
        version,
    }
}

fn image(entity: &str, of: &impl Serialize) -> Item {
    let mut item: Item = to_item(of).expect("an item");
    item.insert(ENTITY_TYPE.to_owned(), AttributeValue::S(entity.to_owned()));
    // As a newer version might write it.
    item.insert("unheardOf".to_owned(), AttributeValue::Bool(true));
    item
}

fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("money")
}

fn order(id: &str) -> Order {
    Order {
        order_id: id.parse().expect("an id"),
        customer_id: "ada".parse().expect("an id"),
        status: OrderStatus::Pending,
        placed_at: PLACED_AT.parse::<Timestamp>().expect("a time"),
        changed_at: None,
        version: 1,
        subtotal: eur(4798),
        discount: eur(0),
        discount_code: None,
        uncounted_code: None,
        total: eur(4798),
        request_hash: RequestHash::of(b""),
        line_count: 2,
        shard: 0,
        cancellation: None,
    }
}

fn card(amount: Money, state: PaymentState) -> Payment {
    use PaymentState::{Authorized, Captured, RefundDue, Refunded, Voided};
    let (status, settlement) = match state {
        Authorized => (PaymentStatus::Authorized, None),
        Captured => (PaymentStatus::Captured, None),
        Voided => (PaymentStatus::Refunded, Some(Settlement::Voided)),
        RefundDue => (PaymentStatus::Refunded, Some(Settlement::RefundDue)),
        Refunded => (PaymentStatus::Refunded, Some(Settlement::Refunded { reference: "refund-4711".to_owned() })),
    };
    let reference = (![Authorized, Voided].contains(&state)).then(|| "bank-4711".to_owned());
    Payment::Card { amount, status, reference, settlement }
}

fn invoice(order: &OrderId, state: PaymentState) -> Invoice {
    Invoice {
        invoice_id: InvoiceId::of(order),
        order_id: order.clone(),
        customer_id: "ada".parse().expect("an id"),
        issued_at: PLACED_AT.parse::<Timestamp>().expect("a time"),
        amount: eur(4798),
        payments: vec![card(eur(4798), state)],
    }
}

/// The order of the samples.
const ID: &str = "ccc44633-c523-5b35-9669-978f6b6bc252";

/// An order that waits, or was rejected.
fn queued(rejection: Option<Rejection>) -> Item {
    let at = |time: &str| time.parse::<Timestamp>().expect("a time");
    let Order { order_id, customer_id, request_hash, placed_at, .. } = order(ID);
    let mut queued = QueuedOrder::new(order_id, customer_id, request_hash, placed_at);
    queued.refusal = rejection.map(|rejection| Refusal { at: at("2026-11-21T09:31:00.000Z"), rejection });
    image(QueuedOrder::TYPE, &queued)
}

/// A rejection is told once, without the codes that were in the request. That an order waits, is delayed or is asked for
/// again is not told.
#[test]
fn a_rejection_is_told_and_no_code_is() {
    let card = Rejection::GiftCardBalance { code: "SECRET".parse().expect("a code") };
    let refused = || queued(Some(card.clone()));
    let event = event_of(&record("MODIFY", queued(None), refused())).expect("an event");
    let detail = event.detail().expect("JSON");
    assert!(detail.contains("\"reason\":\"gift-card-balance\"") && !detail.contains("SECRET"), "{detail}");
    for (old, new) in [(queued(None), queued(None)), (refused(), refused()), (refused(), queued(None))] {
        assert_eq!(event_of(&record("MODIFY", old, new)), None);
    }
    assert_eq!(event_of(&record("INSERT", Item::default(), queued(None))), None);
}

/// One event of each kind, about one order and one product.
pub(crate) fn samples() -> [Event; 8] {
    let (pending, mut paid) = (order(ID), order(ID));
    (paid.status, paid.version) = (OrderStatus::Paid, 2);
    let invoiced = |status| image(Invoice::TYPE, &invoice(&pending.order_id, status));
    let event = |name, old, new| event_of(&record(name, old, new)).expect("an event");
    let product = |version| image(Product::TYPE, &product(version));
    [
        event("INSERT", Item::default(), image(Order::TYPE, &pending)),
        event("MODIFY", image(Order::TYPE, &pending), image(Order::TYPE, &paid)),
        event("MODIFY", invoiced(PaymentState::Authorized), invoiced(PaymentState::Captured)),
        event("MODIFY", invoiced(PaymentState::Captured), invoiced(PaymentState::RefundDue)),
        event("MODIFY", invoiced(PaymentState::RefundDue), invoiced(PaymentState::Refunded)),
        event("MODIFY", queued(None), queued(Some(Rejection::TooExpensive))),
        event("MODIFY", product(1), product(2)),
        event("REMOVE", product(2), Item::default()),
    ]
}

/// What may happen in a shop.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An order is placed, or goes one step of its way if it is.
    Advance,
    Cancel,
    /// The bank takes the money of a cancelled order, or gives back what is due.
    Settle,
    /// The header is written without another status.
    Touch,
    /// An item that is no order lies down beside it.
    Flag,
    /// DynamoDB deletes what has expired.
    Expire,
}

/// The records that a history of steps writes, each step about one of a few orders; and what was changed, told
/// independently.
#[derive(Clone, Debug, Default)]
struct History {
    records: Vec<Record>,
    changes: BTreeSet<(&'static str, usize, u64)>,
    orders: BTreeMap<usize, Order>,
    payments: BTreeMap<usize, PaymentState>,
}

impl History {
    fn of(steps: Vec<(usize, Step)>) -> Self {
        let mut history = Self::default();
        for (number, step) in steps {
            history.step(number, step);
        }
        history
    }

    fn step(&mut self, number: usize, step: Step) {
        let Some(order) = self.orders.get(&number).cloned() else { return self.place(number) };
        match (step, order.status) {
            (Step::Advance, OrderStatus::Pending) => {
                self.change(number, OrderStatus::Paid);
                self.pay(number, PaymentState::Captured, Some("PaymentCaptured"));
            }
            (Step::Advance, OrderStatus::Paid) => self.change(number, OrderStatus::Shipped),
            (Step::Advance, OrderStatus::Shipped) => self.change(number, OrderStatus::Delivered),
            (Step::Cancel, OrderStatus::Pending) => {
                self.change(number, OrderStatus::Cancelled);
                self.pay(number, PaymentState::Voided, None);
            }
            (Step::Cancel, OrderStatus::Paid) => {
                self.change(number, OrderStatus::Cancelled);
                self.pay(number, PaymentState::RefundDue, Some("RefundDue"));
            }
            (Step::Settle, OrderStatus::Cancelled) => match self.payments[&number] {
                PaymentState::Voided => self.pay(number, PaymentState::RefundDue, Some("RefundDue")),
                PaymentState::RefundDue => self.pay(number, PaymentState::Refunded, Some("RefundMade")),
                state => self.pay(number, state, None),
            },
            (Step::Flag, _) => {
                let flag = OrderFlag {
                    order_id: order.order_id,
                    reason: "a look, please".to_owned(),
                    flagged_at: order.placed_at,
                };
                self.record("INSERT", Item::default(), image(OrderFlag::TYPE, &flag));
            }
            (Step::Expire, _) => self.record("REMOVE", image(Order::TYPE, &order), Item::default()),
            _ => self.write(number, order.status),
        }
    }

    fn place(&mut self, number: usize) {
        let order = order(&format!("order-{number}"));
        let invoice = invoice(&order.order_id, PaymentState::Authorized);
        self.payments.insert(number, PaymentState::Authorized);
        self.record("INSERT", Item::default(), image(Order::TYPE, &order));
        self.record("INSERT", Item::default(), image(Invoice::TYPE, &invoice));
        self.orders.insert(number, order);
        self.changes.insert(("OrderPlaced", number, 0));
    }

    fn change(&mut self, number: usize, to: OrderStatus) {
        self.write(number, to);
        self.changes.insert(("OrderStatusChanged", number, self.orders[&number].version));
    }

    fn write(&mut self, number: usize, status: OrderStatus) {
        let old = self.orders[&number].clone();
        let new = Order { status, version: old.version + 1, ..old.clone() };
        self.record("MODIFY", image(Order::TYPE, &old), image(Order::TYPE, &new));
        self.orders.insert(number, new);
    }

    fn pay(&mut self, number: usize, to: PaymentState, told: Option<&'static str>) {
        let (order, from) = (self.orders[&number].order_id.clone(), self.payments[&number]);
        let [old, new] = [from, to].map(|state| image(Invoice::TYPE, &invoice(&order, state)));
        self.record("MODIFY", old, new);
        self.payments.insert(number, to);
        self.changes.extend(told.map(|kind| (kind, number, 0)));
    }

    fn record(&mut self, name: &'static str, old: Item, new: Item) {
        self.records.push(record(name, old, new));
    }

    fn events(&self) -> Vec<Event> {
        self.records.iter().filter_map(event_of).collect()
    }
}

fn waits(position: usize, event: &Event) -> Waiting<'_> {
    Waiting { position, subject: event.subject(), bytes: event.detail().expect("JSON").len() }
}

fn histories() -> impl Strategy<Value = History> {
    const STEPS: [Step; 7] =
        [Step::Advance, Step::Advance, Step::Cancel, Step::Settle, Step::Touch, Step::Flag, Step::Expire];
    vec((0..5_usize, prop::sample::select(&STEPS[..])), 0..60).prop_map(History::of)
}

proptest! {
    #[test]
    fn there_is_one_event_for_each_change_and_no_two_share_an_id(history in histories()) {
        let events = history.events();
        let ids: BTreeSet<_> = events.iter().map(Event::id).collect();
        prop_assert_eq!(ids.len(), events.len());
        let told = events.iter().map(|event| {
            let subject = event.subject().to_string();
            let (_, number) = subject.split_once('-').expect("order-NUMBER");
            let version = if let Event::OrderStatusChanged(change) = event { change.version } else { 0 };
            (event.detail_type(), number.parse().expect("a number"), version)
        });
        prop_assert_eq!(told.collect::<BTreeSet<_>>(), history.changes);
    }

    /// Lambda cuts the stream into batches as it likes, and goes back to a checkpoint when a batch failed.
    #[test]
    fn however_records_are_delivered_the_events_are_the_same_byte_for_byte(
        history in histories(), rewinds in vec((any::<Index>(), any::<Index>()), 0..6),
    ) {
        let details = |records: &[Record]| -> Vec<(String, String)> {
            let events = records.iter().filter_map(event_of);
            events.map(|event| (event.id().as_str().to_owned(), event.detail().expect("JSON"))).collect()
        };
        let expected: BTreeSet<_> = details(&history.records).into_iter().collect();
        let mut delivered = history.records.clone();
        for (from, to) in rewinds.iter().filter(|_| !history.records.is_empty()) {
            let (from, to) = (from.index(history.records.len()), to.index(history.records.len()));
            delivered.extend_from_slice(&history.records[from.min(to)..=from.max(to)]);
        }
        prop_assert_eq!(details(&delivered).into_iter().collect::<BTreeSet<_>>(), expected);
    }

    /// Some entries of each call fail, and wait for the next.
    #[test]
    fn whatever_calls_fail_the_events_of_an_order_arrive_in_their_order(
        history in histories(), failures in vec(subsequence((0..MOST_ENTRIES).collect::<Vec<_>>(), 0..MOST_ENTRIES), 8),
    ) {
        let events = history.events();
        let mut waiting: BTreeMap<usize, &Event> = events.iter().enumerate().collect();
        let mut arrived = Vec::new();
        for failing in failures.iter().chain(std::iter::repeat(&vec![])) {
            let call = next_call(waiting.iter().map(|(position, event)| waits(*position, event)));
            prop_assert_eq!(call.is_empty(), waiting.is_empty());
            prop_assert!(call.len() <= MOST_ENTRIES);
            if call.is_empty() {
                break;
            }
            let taken = call.iter().enumerate().filter(|(entry, _)| !failing.contains(entry));
            arrived.extend(taken.map(|(_, position)| waiting.remove(position).expect("it waits")));
        }
        for order in history.orders.values() {
            let of_order = |event: &&&Event| event.subject() == Subject::Order(&order.order_id);
            let (made, came) = (events.iter().collect::<Vec<_>>(), &arrived);
            prop_assert_eq!(
                made.iter().filter(of_order).collect::<Vec<_>>(), came.iter().filter(of_order).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn the_derivation_of_ids_never_changes() {
    let ids = samples().map(|event| event.id().as_str().to_owned());
    let expected: [String; 8] = [
        "9ea45d61-8e1e-597f-8ec9-0932f86e9492",
        "c0cf4667-64d7-5c4e-8263-e2bd48b93968",
        "ba178653-7200-5079-9ea0-7ea17d5e9ddc",
        "db9b6435-506a-55c3-b224-c6dc845bc466",
        "6b088198-10f2-558e-b31e-fd02ab11d620",
        "ba5b7984-4d19-5783-ab00-8ca836234385",
        "ec219831-fb54-5211-96d0-7bf2a94f4f67",
        "0a0062be-c179-5fd8-b90b-e76fd926b3eb",
    ]
    .map(str::to_owned);
    assert_eq!(ids, expected);
}

#[test]
fn what_cannot_be_read_is_not_passed_over() {
    let mut newer = image(Order::TYPE, &order("a"));
    newer.insert("status".to_owned(), AttributeValue::S("LOST".to_owned()));
    draft_of(record("INSERT", Item::default(), newer)).expect_err("a status that nobody knows");
}

/// Placing happens once: a header that is put back by hand, or copied from another table, is no second time.
#[test]
fn an_order_that_is_put_back_was_not_placed_then() {
    let insert = |order: &Order, written_at: &str| {
        let written_at = written_at.parse().expect("a time");
        draft_of(Record { written_at, ..record("INSERT", Item::default(), image(Order::TYPE, order)) })
            .expect("readable")
    };
    let placed = order("a");
    // The stream's times are whole seconds.
    for at in ["2026-11-21T09:29:59.000Z", "2026-11-21T09:30:30.000Z"] {
        assert_eq!(insert(&placed, at), Some(Draft::Placed(placed.clone())), "{at}");
    }
    assert_eq!(insert(&placed, "2026-11-21T10:30:01.000Z"), None);
    assert_eq!(insert(&Order { version: 2, ..placed }, "2026-11-21T09:30:30.000Z"), None);
}

#[test]
fn an_event_of_a_product_is_of_a_version_and_a_product_that_comes_again_is_another() {
    let changed = |name, old, new, written_at: &str| {
        let written_at = written_at.parse().expect("a time");
        event_of(&Record { written_at, ..record(name, old, new) })
    };
    let image = |version| image(Product::TYPE, &product(version));
    let (first, later) = ("2026-11-21T09:30:00.000Z", "2026-11-21T09:40:00.000Z");
    let created = changed("INSERT", Item::default(), image(1), first).expect("an event");
    let again = changed("INSERT", Item::default(), image(1), later).expect("an event");
    assert_eq!((created.detail_type(), again.detail_type()), ("ProductChanged", "ProductChanged"));
    assert_ne!(created.id(), again.id());
    assert_eq!(changed("MODIFY", image(2), image(2), later), None, "another attribute than the product's own");
}

/// The largest events are those of orders with 40 lines, and of products with long descriptions.
#[test]
fn a_call_is_never_larger_than_eventbridge_takes_it_and_no_event_is_too_large_for_a_call() {
    let mut placed = order(&"x".repeat(64));
    placed.line_count = 40;
    // A name has at most 200 characters, which have at most four bytes, or two where JSON escapes them.
    let lines = vec![OrderLine { name: "𝄞".repeat(200), ..line(&"x".repeat(64)) }; 40];
    let largest: Event = OrderPlaced::new(placed, lines).expect("its lines").into();
    let described = Product { description: "𝄞".repeat(5000), name: "𝄞".repeat(200), ..product(1) };
    let described = event_of(&record("INSERT", Item::default(), image(Product::TYPE, &described))).expect("an event");
    for event in [&largest, &described] {
        assert!(event.detail().expect("JSON").len() < MOST_BYTES / 4);
    }

    let ids: Vec<OrderId> = (0..20).map(|number| format!("order-{number}").parse().expect("an id")).collect();
    let bytes = largest.detail().expect("JSON").len();
    let waiting = ids.iter().enumerate();
    let call = next_call(waiting.map(|(position, id)| Waiting { position, subject: Subject::Order(id), bytes }));
    assert!(call.len() * bytes <= MOST_BYTES && (call.len() + 1) * bytes > MOST_BYTES, "{} of {bytes}", call.len());
    let too_large = Waiting { position: 7, subject: Subject::Order(&ids[0]), bytes: MOST_BYTES + 1 };
    assert_eq!(next_call([too_large]), [7], "an event that nobody foresaw is for EventBridge to refuse");
}

#[test]
fn every_kind_says_which_layout_it_has() {
    for (kind, event) in KINDS.iter().zip(samples()) {
        let detail: serde_json::Value = serde_json::from_str(&event.detail().expect("JSON")).expect("JSON");
        assert_eq!(detail["layoutVersion"], 1, "{}", kind.detail_type);
    }
}
