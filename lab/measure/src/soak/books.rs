//! The record of requests and answers, with which the table is compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use key_schema::value::Timestamp;

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
    /// What the requests about an order's payment moved, by the order's id.
    moved: BTreeMap<String, Moved>,
    complaints: Vec<String>,
}

/// What answered requests and acts moved for one order, in minor units, and its units that they credited.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    /// When the customer last paid by card.
    pub(super) paid_at: Option<Timestamp>,
    /// Amounts that staff gave back.
    pub(super) allowed: i64,
    pub(super) cancelled: u32,
    pub(super) returned: u32,
    /// What staff received, refunded and wrote off.
    pub(super) received: i64,
    pub(super) refunded: i64,
    pub(super) written_off: i64,
    /// What somebody refunded in the provider's dashboard.
    pub(super) by_dashboard: i64,
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
    /// The order was placed, and its payment decides what becomes of it.
    ByCard,
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

    /// Notes what a request or an act moved.
    pub(super) fn note(&self, order: &str, change: impl FnOnce(&mut Moved)) {
        change(self.inside().moved.entry(order.to_owned()).or_default());
    }

    pub(super) fn moved(&self, order: &str) -> Moved {
        self.inside().moved.get(order).cloned().unwrap_or_default()
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

    pub(super) fn report(&self, rest: &Rest) -> String {
        let inside = self.inside();
        let Rest { took, kills, injected, items, orders, money } = rest;
        let count = |is: fn(&State) -> bool| inside.orders.iter().filter(|order| is(&order.state)).count();
        let answers: u64 = inside.answers.values().sum();
        let mut text = format!(
            "{answers} requests answered in {} s; requests sent again {} times\n\
             {kills} times killed, {injected} calls made to fail\n\
             {} orders placed, {} of them cancelled, and {} refused; 503 in the calm time: {}\n\
             audit: {items} items, {orders} orders; {} things are not as they should be\n\
             {money}\n\n",
            took.as_secs(),
            inside.repeated,
            count(|state| matches!(state, State::Placed | State::ByCard | State::Cancelled)),
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
