//! Histories of a shop: their stream records, and the events to expect.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{Entity as _, Invoice, Order, OrderFlag, OrderStatus, PaymentState};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_dynamo::Item;

use super::sample::{Record, event_of, image, invoice, order, record};
use crate::Event;

/// One step of a history.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Moves the order to its next status.
    Advance,
    Cancel,
    /// The bank captures the payment of a cancelled order, or makes the refund that is due.
    Settle,
    /// Writes the header without changing the status.
    Touch,
    /// Writes another item in the order's collection.
    Flag,
    /// Deletes the header, like DynamoDB's TTL.
    Expire,
}

/// The records of a sequence of steps over a few orders, and independently of them the changes that events must report:
/// each with its kind, the number of its order, and the version of a status change or 0.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) records: Vec<Record>,
    pub(super) changes: BTreeSet<(&'static str, usize, u64)>,
    pub(super) orders: BTreeMap<usize, Order>,
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
                    reason: "a mode, please".to_owned(),
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

    fn pay(&mut self, number: usize, to: PaymentState, kind: Option<&'static str>) {
        let (order, from) = (self.orders[&number].order_id.clone(), self.payments[&number]);
        let [old, new] = [from, to].map(|state| image(Invoice::TYPE, &invoice(&order, state)));
        self.record("MODIFY", old, new);
        self.payments.insert(number, to);
        self.changes.extend(kind.map(|kind| (kind, number, 0)));
    }

    fn record(&mut self, name: &'static str, old: Item, new: Item) {
        self.records.push(record(name, old, new));
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.records.iter().filter_map(event_of).collect()
    }
}

pub(super) fn histories() -> impl Strategy<Value = History> {
    const STEPS: [Step; 7] =
        [Step::Advance, Step::Advance, Step::Cancel, Step::Settle, Step::Touch, Step::Flag, Step::Expire];
    vec((0..5_usize, prop::sample::select(&STEPS[..])), 0..60).prop_map(History::of)
}
