//! What was asked and what was answered: what the table is compared with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Rest;

/// So many complaints are printed.
const SHOWN: usize = 40;

#[derive(Default)]
pub(super) struct Books {
    /// Whether nothing fails yet. Set before the first request.
    pub(super) is_calm: AtomicBool,
    /// 503s in the calm time.
    pub(super) calm_refusals: AtomicU64,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    orders: Vec<Order>,
    /// Units that were supplied, by product.
    supplied: BTreeMap<String, i64>,
    /// How often each kind of request was answered so.
    answers: BTreeMap<(&'static str, String), u64>,
    /// How often a request was sent again because it was not answered, or with 503.
    repeated: u64,
    complaints: Vec<String>,
}

/// An order that was answered for good.
#[derive(Clone)]
pub(super) struct Order {
    pub(super) id: String,
    pub(super) lines: Vec<(String, i64)>,
    pub(super) state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It was accepted, and waits or not.
    Accepted,
    Placed,
    Cancelled,
    /// With this problem.
    Refused(String),
}

impl Books {
    pub(super) fn supply(&self, product: &str, units: i64) {
        *self.inside().supplied.entry(product.to_owned()).or_default() += units;
    }

    /// Adds an order. Answers its place.
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

    /// What is shown while it goes on.
    pub(super) fn line(&self) -> String {
        let inside = self.inside();
        let answers: u64 = inside.answers.values().sum();
        let (orders, complaints) = (inside.orders.len(), inside.complaints.len());
        format!("{answers} answers, {} sent again, {orders} orders, {complaints} complaints", inside.repeated)
    }

    /// What is said at the end.
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
