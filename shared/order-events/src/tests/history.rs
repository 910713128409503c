//! Histories of a shop: their stream records, and the events to expect.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{
    CardPayment, Held, Order, OrderFlag, OrderStatus, Payment, PaymentState, Progress, ProviderPayment,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_dynamo::Item;

use super::sample::{Record, events_of, image, invoice, order, paid_by_staff, record, with_cancelled};
use crate::{Event, Failure};

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Moves the order to its next status. Staff record the payment of a pending order.
    Advance,
    Cancel,
    /// Cancels one more unit, before the order is shipped.
    CancelUnit,
    /// Cancels the order because it is not paid.
    Expire,
    /// Staff record a late payment of a cancelled order, or the refund that is due.
    Settle,
    /// The provider reports this progress of the order's intent, or of a new one if the last one ended.
    Report(Progress),
    /// The provider reports that it has refunded the payment.
    Refund,
    /// Writes the header without changing the status.
    Touch,
    /// Writes another item in the order's collection.
    Flag,
    /// Deletes the header, like DynamoDB's TTL.
    Delete,
}

/// The records of a sequence of steps over a few orders, and independently of them the changes that events must report:
/// each with its kind, the number of its order, and a [`mark`] that tells it from others of its kind.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) records: Vec<Record>,
    pub(super) changes: BTreeSet<(&'static str, usize, u64)>,
    pub(super) orders: BTreeMap<usize, Order>,
    pub(super) cards: BTreeMap<usize, CardPayment>,
}

/// The version of a change of the order; the number of the attempt for a payment, with its reason if it failed; 0 otherwise.
pub(super) fn mark(event: &Event) -> u64 {
    let attempt = |reference: &str| reference.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    match event {
        Event::OrderStatusChanged(change) => change.version,
        Event::UnitsCancelled(change) => change.version,
        Event::PaymentAuthorized(payment) => attempt(&payment.reference),
        Event::PaymentFailed(payment) => failure(attempt(&payment.reference), payment.reason),
        _ => 0,
    }
}

fn failure(attempt: u64, reason: Failure) -> u64 {
    attempt * 10 + reason as u64
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
        let card = self.cards[&number].clone();
        match (step, order.status) {
            (Step::Advance, OrderStatus::Pending) if card.provider.is_none() => {
                self.change(number, OrderStatus::Paid);
                self.pay(number, paid_by_staff(&card), &[("PaymentCaptured", 0)]);
            }
            (Step::Advance, OrderStatus::Paid) => self.change(number, OrderStatus::Shipped),
            (Step::Advance, OrderStatus::Shipped) => self.change(number, OrderStatus::Delivered),
            (Step::Cancel | Step::Expire, OrderStatus::Pending) => {
                let expired = matches!(step, Step::Expire);
                self.change(number, OrderStatus::Cancelled);
                self.cancel(number, card, expired, if expired { &[("OrderExpired", 0)] } else { &[] });
            }
            (Step::Cancel, OrderStatus::Paid) => {
                let is_captured = card.state() == PaymentState::Captured;
                self.change(number, OrderStatus::Cancelled);
                self.cancel(number, card, false, if is_captured { &[("RefundDue", 0)] } else { &[] });
            }
            (Step::CancelUnit, OrderStatus::Pending | OrderStatus::Paid) => {
                let next = with_cancelled(&order, order.credited_units(&"cup".parse().expect("an id")) + 1);
                self.changes.insert(("UnitsCancelled", number, next.version));
                self.put(number, next);
            }
            (Step::Settle, OrderStatus::Cancelled) if card.provider.is_none() => match card.state() {
                PaymentState::Voided | PaymentState::Expired => {
                    self.pay(number, paid_by_staff(&card), &[("RefundDue", 0)]);
                }
                PaymentState::RefundDue => {
                    let refunded = card.refunded_under("refund-4711").expect("a refund is due");
                    self.pay(number, refunded, &[("RefundMade", 0)]);
                }
                _ => self.pay(number, card, &[]),
            },
            (Step::Report(progress), status) if !matches!(card.state(), PaymentState::Refunded) => {
                self.report(number, status, card, progress);
            }
            (Step::Refund, OrderStatus::Cancelled) if card.held().kept() > 0 => {
                let amount = card.amount.amount();
                let held = Held { captured: amount, refunded: amount, ..Held::of(Progress::Captured) };
                self.pay(number, card.observed(held, 1), &[("RefundMade", 0)]);
            }
            (Step::Flag, _) => {
                let flag = OrderFlag {
                    order_id: order.order_id,
                    reason: "a mode, please".to_owned(),
                    flagged_at: order.placed_at,
                };
                self.record("INSERT", Item::default(), image(&flag));
            }
            (Step::Delete, _) => self.record("REMOVE", image(&order), Item::default()),
            _ => self.write(number, order.status),
        }
    }

    /// The shop sees the progress of the newest intent. Money that staff recorded has none.
    fn report(&mut self, number: usize, status: OrderStatus, card: CardPayment, progress: Progress) {
        if card.provider.is_none() && card.transfer.is_some() {
            return;
        }
        let mut card = card;
        let attempt = card.next_attempt().or((card.provider.is_none()).then_some(1));
        if let Some(attempt) = attempt {
            let intent = format!("intent-{attempt}").parse().expect("an id");
            let started = CardPayment { provider: Some(ProviderPayment::new(intent, attempt)), ..card };
            self.pay(number, started.clone(), &[]);
            card = started;
        }
        let provider = card.provider.clone().expect("it was started");
        let attempt = u64::from(provider.attempt);
        let captured = if progress == Progress::Captured { card.amount.amount() } else { 0 };
        let is_news = progress > provider.held.progress;
        let next = if is_news { card.observed(Held { captured, ..Held::of(progress) }, 0) } else { card };
        let is_cancelled = status == OrderStatus::Cancelled;
        let change = match progress {
            _ if !is_news => None,
            Progress::Started => None,
            Progress::Declined => (!is_cancelled).then_some(("PaymentFailed", failure(attempt, Failure::Declined))),
            Progress::Authorized if is_cancelled => Some(("PaymentFailed", failure(attempt, Failure::TooLate))),
            Progress::Authorized => Some(("PaymentAuthorized", attempt)),
            Progress::Released => (!is_cancelled).then_some(("PaymentFailed", failure(attempt, Failure::Expired))),
            Progress::Ended => (!is_cancelled && provider.held.progress == Progress::Authorized)
                .then_some(("PaymentFailed", failure(attempt, Failure::Expired))),
            Progress::Captured => Some((if is_cancelled { "RefundDue" } else { "PaymentCaptured" }, 0)),
        };
        if status == OrderStatus::Pending && next.was_paid() {
            self.change(number, OrderStatus::Paid);
        }
        self.pay(number, next, change.as_slice());
    }

    fn place(&mut self, number: usize) {
        let order = order(&format!("order-{number}"));
        let card = CardPayment::of(order.total);
        self.record("INSERT", Item::default(), image(&order));
        self.record("INSERT", Item::default(), image(&invoice(&order.order_id, card.clone())));
        self.cards.insert(number, card);
        self.orders.insert(number, order);
        self.changes.insert(("OrderPlaced", number, 0));
    }

    fn cancel(&mut self, number: usize, card: CardPayment, expired: bool, kinds: &[(&'static str, u64)]) {
        if let Payment::Card(cancelled) = Payment::Card(card).cancelled(expired) {
            self.pay(number, cancelled, kinds);
        }
    }

    fn change(&mut self, number: usize, to: OrderStatus) {
        self.write(number, to);
        self.changes.insert(("OrderStatusChanged", number, self.orders[&number].version));
    }

    fn write(&mut self, number: usize, status: OrderStatus) {
        let old = &self.orders[&number];
        let new = Order { status, version: old.version + 1, ..old.clone() };
        self.put(number, new);
    }

    fn put(&mut self, number: usize, new: Order) {
        let old = self.orders[&number].clone();
        self.record("MODIFY", image(&old), image(&new));
        self.orders.insert(number, new);
    }

    fn pay(&mut self, number: usize, to: CardPayment, kinds: &[(&'static str, u64)]) {
        let order = self.orders[&number].order_id.clone();
        let image = |card: &CardPayment| image(&invoice(&order, card.clone()));
        let (old, new) = (image(&self.cards[&number]), image(&to));
        self.record("MODIFY", old, new);
        self.cards.insert(number, to);
        self.changes.extend(kinds.iter().map(|(kind, mark)| (*kind, number, *mark)));
    }

    fn record(&mut self, name: &'static str, old: Item, new: Item) {
        self.records.push(record(name, old, new));
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.records.iter().flat_map(events_of).collect()
    }
}

pub(super) fn histories() -> impl Strategy<Value = History> {
    let steps = vec![
        Step::Advance,
        Step::Advance,
        Step::Cancel,
        Step::CancelUnit,
        Step::Expire,
        Step::Settle,
        Step::Report(Progress::Started),
        Step::Report(Progress::Declined),
        Step::Report(Progress::Authorized),
        Step::Report(Progress::Ended),
        Step::Report(Progress::Released),
        Step::Report(Progress::Captured),
        Step::Refund,
        Step::Touch,
        Step::Flag,
        Step::Delete,
    ];
    vec((0..5_usize, prop::sample::select(steps)), 0..80).prop_map(History::of)
}
