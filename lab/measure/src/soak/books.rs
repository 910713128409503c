//! The record of requests and answers, with which the table is compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Rest;

/// The number of complaints printed.
const SHOWN: usize = 40;

#[derive(Default)]
pub(super) struct Books {
    /// Whether the run is in the calm phase. Set before the first request.
    pub(super) is_calm: AtomicBool,
    /// The number of 503s in the calm phase.
    pub(super) calm_refusals: AtomicU64,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    orders: Vec<Order>,
    /// Units that were supplied, by product.
    supplied: BTreeMap<String, i64>,
    /// The number of each answer, by kind of request.
    answers: BTreeMap<(&'static str, String), u64>,
    /// The number of retries because of no answer or a 503.
    repeated: u64,
    complaints: Vec<String>,
}

/// An order with a final answer.
#[derive(Clone)]
pub(super) struct Order {
    pub(super) id: String,
    pub(super) lines: Vec<(String, i64)>,
    pub(super) state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The order was accepted, and may still be queued.
    Accepted,
    Placed,
    Cancelled,
    /// The order was refused with this problem.
    Refused(String),
}

impl Books {
    pub(super) fn supply(&self, product: &str, units: i64) {
        *self.inside().supplied.entry(product.to_owned()).or_default() += units;
    }

    /// Adds an order, and returns its index.
    pub(super) fn order(&self, order: Order) -> usize {
        let mut inside = self.inside();
        inside.orders.push(order);
        inside.orders.len() - 1
    }

    pub(super) fn change(&self, place: usize, state: State) {
        if let Some(order) = self.inside().orders.get_mut(place) {
            order.state = state;
        }
    }

    pub(super) fn answered(&self, kind: &'static str, answer: String) {
        *self.inside().answers.entry((kind, answer)).or_default() += 1;
    }

    pub(super) fn repeated(&self, is_refusal: bool) {
        self.inside().repeated += 1;
        if is_refusal && self.is_calm.load(Relaxed) {
            self.calm_refusals.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn complain(&self, complaint: String) {
        self.inside().complaints.push(complaint);
    }

    pub(super) fn orders(&self) -> Vec<Order> {
        self.inside().orders.clone()
    }

    pub(super) fn supplied(&self) -> BTreeMap<String, i64> {
        self.inside().supplied.clone()
    }

    pub(super) fn complaints(&self) -> Vec<String> {
        self.inside().complaints.clone()
    }

    pub(super) fn line(&self) -> String {
        let inside = self.inside();
        let answers: u64 = inside.answers.values().sum();
        let (orders, complaints) = (inside.orders.len(), inside.complaints.len());
        format!("{answers} answers, {} sent again, {orders} orders, {complaints} complaints", inside.repeated)
    }

    /// The report at the end.
    pub(super) fn report(&self, rest: &Rest) -> String {
        let inside = self.inside();
        let Rest { took, kills, injected, items, orders } = rest;
        let count = |is: fn(&State) -> bool| inside.orders.iter().filter(|order| is(&order.state)).count();
        let answers: u64 = inside.answers.values().sum();
        let mut text = format!(
            "{answers} requests answered in {} s; requests sent again {} times\n\
             {kills} times killed, {injected} calls made to fail\n\
             {} orders placed, {} of them cancelled, and {} refused; 503 in the calm time: {}\n\
             audit: {items} items, {orders} orders; {} things are not as they should be\n\n",
            took.as_secs(),
            inside.repeated,
            count(|state| matches!(state, State::Placed | State::Cancelled)),
            count(|state| *state == State::Cancelled),
            count(|state| matches!(state, State::Refused(_))),
            self.calm_refusals.load(Relaxed),
            inside.complaints.len(),
        );
        for ((kind, answer), count) in &inside.answers {
            _ = writeln!(text, "{kind:<22}{answer:<32}{count:>9}");
        }
        for complaint in inside.complaints.iter().take(SHOWN) {
            _ = writeln!(text, "{complaint}");
        }
        text
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
