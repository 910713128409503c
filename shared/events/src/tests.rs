//! Whatever happens to orders and however the stream delivers it, the same changes make the same events, and no others.
#![allow(clippy::expect_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{Entity as _, Invoice, Order, OrderFlag, OrderStatus, Payment, PaymentStatus};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::{Currency, InvoiceId, Money, OrderId, RequestHash, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use serde::Serialize;
use serde_dynamo::{AttributeValue, Item, to_item};

use crate::{Event, MOST_ENTRIES, event_of, next_call};

/// A record of the stream, as far as it matters here.
#[derive(Clone, Debug)]
struct Record {
    name: &'static str,
    old: Item,
    new: Item,
}

impl Record {
    fn event(&self) -> Option<Event> {
        event_of(self.name, self.old.clone(), self.new.clone()).expect("it can be read")
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
        placed_at: "2026-11-21T09:30:00.000Z".parse::<Timestamp>().expect("a time"),
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

fn invoice(order: &OrderId, status: PaymentStatus) -> Invoice {
    let reference = (status == PaymentStatus::Captured).then(|| "bank-4711".to_owned());
    Invoice {
        invoice_id: InvoiceId::of(order),
        order_id: order.clone(),
        customer_id: "ada".parse().expect("an id"),
        issued_at: "2026-11-21T09:30:00.000Z".parse::<Timestamp>().expect("a time"),
        amount: eur(4798),
        payments: vec![Payment::Card { amount: eur(4798), status, reference }],
    }
}

/// The order of the samples.
const ID: &str = "ccc44633-c523-5b35-9669-978f6b6bc252";

/// One event of each kind, about one order.
pub(crate) fn samples() -> [Event; 3] {
    let (pending, mut paid) = (order(ID), order(ID));
    (paid.status, paid.version) = (OrderStatus::Paid, 2);
    let invoiced = |status| image(Invoice::TYPE, &invoice(&pending.order_id, status));
    let event = |name, old, new| Record { name, old, new }.event().expect("an event");
    [
        event("INSERT", Item::default(), image(Order::TYPE, &pending)),
        event("MODIFY", image(Order::TYPE, &pending), image(Order::TYPE, &paid)),
        event("MODIFY", invoiced(PaymentStatus::Authorized), invoiced(PaymentStatus::Captured)),
    ]
}

/// What may happen in a shop.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An order is placed, or goes one step of its way if it is.
    Advance,
    Cancel,
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
                self.invoice(&order.order_id, PaymentStatus::Authorized, PaymentStatus::Captured);
                self.changes.insert(("PaymentCaptured", number, 0));
            }
            (Step::Advance, OrderStatus::Paid) => self.change(number, OrderStatus::Shipped),
            (Step::Advance, OrderStatus::Shipped) => self.change(number, OrderStatus::Delivered),
            (Step::Cancel, OrderStatus::Pending) => {
                self.change(number, OrderStatus::Cancelled);
                self.invoice(&order.order_id, PaymentStatus::Authorized, PaymentStatus::Refunded);
            }
            (Step::Cancel, OrderStatus::Paid) => {
                self.change(number, OrderStatus::Cancelled);
                self.invoice(&order.order_id, PaymentStatus::Captured, PaymentStatus::Refunded);
            }
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
        let invoice = invoice(&order.order_id, PaymentStatus::Authorized);
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

    fn invoice(&mut self, order: &OrderId, from: PaymentStatus, to: PaymentStatus) {
        let [old, new] = [from, to].map(|status| image(Invoice::TYPE, &invoice(order, status)));
        self.record("MODIFY", old, new);
    }

    fn record(&mut self, name: &'static str, old: Item, new: Item) {
        self.records.push(Record { name, old, new });
    }

    fn events(&self) -> Vec<Event> {
        self.records.iter().filter_map(Record::event).collect()
    }
}

fn histories() -> impl Strategy<Value = History> {
    const STEPS: [Step; 6] = [Step::Advance, Step::Advance, Step::Cancel, Step::Touch, Step::Flag, Step::Expire];
    vec((0..5_usize, prop::sample::select(&STEPS[..])), 0..60).prop_map(History::of)
}

proptest! {
    #[test]
    fn there_is_one_event_for_each_change_and_no_two_share_an_id(history in histories()) {
        let events = history.events();
        let ids: BTreeSet<_> = events.iter().map(Event::id).collect();
        prop_assert_eq!(ids.len(), events.len());
        let told = events.iter().map(|event| {
            let (_, number) = event.order_id().as_str().split_once('-').expect("order-NUMBER");
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
            let events = records.iter().filter_map(Record::event);
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
            let call = next_call(waiting.iter().map(|(position, event)| (*position, event.order_id())));
            prop_assert_eq!(call.is_empty(), waiting.is_empty());
            prop_assert!(call.len() <= MOST_ENTRIES);
            if call.is_empty() {
                break;
            }
            let taken = call.iter().enumerate().filter(|(entry, _)| !failing.contains(entry));
            arrived.extend(taken.map(|(_, position)| waiting.remove(position).expect("it waits")));
        }
        for order in history.orders.values() {
            let of_order = |event: &&&Event| *event.order_id() == order.order_id;
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
    let expected: [String; 3] = [
        "9ea45d61-8e1e-597f-8ec9-0932f86e9492",
        "c0cf4667-64d7-5c4e-8263-e2bd48b93968",
        "786bdf1c-3596-5f51-8565-b93880f35d95",
    ]
    .map(str::to_owned);
    assert_eq!(ids, expected);
}

#[test]
fn what_cannot_be_read_is_not_passed_over() {
    let mut newer = image(Order::TYPE, &order("a"));
    newer.insert("status".to_owned(), AttributeValue::S("LOST".to_owned()));
    assert!(event_of("INSERT", Item::default(), newer).is_err());
}

/// Ten of the largest are far from the 256 KB that a call may hold.
#[test]
fn no_event_is_larger_than_2_kb() {
    let longest = "x".repeat(64);
    let mut placed = order(&longest);
    placed.customer_id = longest.parse().expect("an id");
    placed.total = eur((1 << 53) - 1);
    let of = |status, reference| {
        let mut invoice = invoice(&placed.order_id, status);
        let amount = placed.total;
        (invoice.invoice_id, invoice.customer_id) = (longest.parse().expect("an id"), placed.customer_id.clone());
        invoice.payments = vec![Payment::Card { amount, status, reference }];
        image(Invoice::TYPE, &invoice)
    };
    // A reference is a name: 200 characters, of which the longest take four bytes.
    let (old, new) = (of(PaymentStatus::Authorized, None), of(PaymentStatus::Captured, Some("𝄞".repeat(200))));
    let insert = Record { name: "INSERT", old: Item::default(), new: image(Order::TYPE, &placed) };
    for record in [insert, Record { name: "MODIFY", old, new }] {
        let detail = record.event().expect("an event").detail().expect("JSON");
        assert!(detail.len() < 2048, "{detail}");
    }
}
