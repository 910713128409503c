//! Counts of a run: latencies by kind of request, answers, and sales.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use hdrhistogram::Histogram;

use super::judge::{Effect, Judgement};
use super::traffic::{Ask, Kind, Order};

/// The significant digits of a latency: exact to a tenth of a per cent.
const DIGITS: u8 = 3;

/// The longest latency: clients give up before a minute.
const LONGEST_MICROS: u64 = 60_000_000;

/// Latencies, in microseconds.
pub(super) type Latencies = Histogram<u64>;

/// Counts of everything since the start.
pub(super) struct Tally {
    pub(super) latencies: BTreeMap<Kind, Latencies>,
    /// The number of each answer by kind of request, and whether it is expected.
    pub(super) answers: BTreeMap<(bool, Kind, String), u64>,
    pub(super) errors: u64,
    pub(super) books: Books,
    empty: Latencies,
}

/// The effect of the orders on the stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Books {
    /// Units sold and not returned, by the product's rank.
    pub(super) sold: Vec<i64>,
    /// Orders placed, cancelled or not.
    pub(super) orders: u64,
    /// Requests whose effect on the stock is unknown.
    pub(super) unknown: u64,
}

impl Tally {
    /// An empty tally for this many products.
    pub(super) fn new(products: usize) -> Result<Self> {
        let empty = Latencies::new_with_max(LONGEST_MICROS, DIGITS).context("there is no such histogram")?;
        Ok(Self {
            latencies: BTreeMap::new(),
            answers: BTreeMap::new(),
            errors: 0,
            books: Books { sold: vec![0; products], orders: 0, unknown: 0 },
            empty,
        })
    }

    /// Counts a request and its answer.
    pub(super) fn add(&mut self, ask: &Ask, took: Duration, judgement: Judgement) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let kind = ask.kind();
        self.latencies.entry(kind).or_insert_with(|| self.empty.clone()).saturating_record(micros);
        let Judgement { answer, is_expected, effect } = judgement;
        *self.answers.entry((is_expected, kind, answer)).or_default() += 1;
        self.errors += u64::from(!is_expected);
        match (ask, effect) {
            (Ask::PlaceOrder(order), Effect::Placed { .. }) => {
                self.books.orders += 1;
                self.books.take(order, 1);
            }
            (Ask::CancelOrder(placed), Effect::Cancelled) => self.books.take(&placed.order, -1),
            (_, Effect::Unknown) => self.books.unknown += 1,
            _ => {}
        }
    }

    /// The number of requests, answered or not.
    pub(super) fn done(&self) -> u64 {
        self.latencies.values().map(Latencies::len).sum()
    }

    /// The latencies of all kinds together.
    pub(super) fn all(&self) -> Latencies {
        let mut all = self.empty.clone();
        for latencies in self.latencies.values() {
            all += latencies;
        }
        all
    }
}

impl Books {
    fn take(&mut self, order: &Order, sign: i64) {
        for line in &order.lines {
            if let Some(sold) = self.sold.get_mut(line.product) {
                *sold += sign * i64::from(line.quantity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load::traffic::{Line, Placed};

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn order() -> Arc<Order> {
        let lines = vec![Line { product: 0, quantity: 2 }, Line { product: 2, quantity: 1 }];
        Arc::new(Order { customer: 0, key: "k".to_owned(), lines })
    }

    fn judged(effect: Effect) -> Judgement {
        let is_expected = effect != Effect::Unknown;
        Judgement { answer: "an answer".to_owned(), is_expected, effect }
    }

    #[test]
    fn a_cancelled_order_does_not_count_as_sold() {
        let mut tally = Tally::new(3).unwrap();
        let placed = Placed { id: "o".to_owned(), order: order() };
        tally.add(&Ask::PlaceOrder(order()), MILLISECOND, judged(Effect::Placed { id: "o".to_owned() }));
        assert_eq!(tally.books, Books { sold: vec![2, 0, 1], orders: 1, unknown: 0 });
        tally.add(&Ask::CancelOrder(placed), MILLISECOND, judged(Effect::Cancelled));
        assert_eq!(tally.books, Books { sold: vec![0, 0, 0], orders: 1, unknown: 0 });
    }

    #[test]
    fn an_unanswered_request_is_an_error_with_an_unknown_effect() {
        let mut tally = Tally::new(3).unwrap();
        tally.add(&Ask::PlaceOrder(order()), MILLISECOND, judged(Effect::Unknown));
        assert_eq!(tally.books, Books { sold: vec![0, 0, 0], orders: 0, unknown: 1 });
        assert_eq!((tally.done(), tally.errors), (1, 1));
    }
}
