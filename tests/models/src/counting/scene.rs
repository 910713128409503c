//! The records: two orders in two shards, of which one took over from the other.

use counting::{Change, Counts};
use key_schema::entity::{Order, OrderItem, OrderStatus};
use serde_json::json;

#[cfg(test)]
use super::Bug;
use super::{Halves, Left, Stream, Written};

/// The streams that `cargo test` explores.
pub fn small() -> Vec<Stream> {
    vec![
        stream("counts: a crash and a copy", Left { crashes: 1, copies: 1, ..Left::default() }),
        stream("counts: a failure and a lost answer", Left { failures: 1, lost_answers: 1, ..Left::default() }),
        stream("counts: a crash and a late transaction", Left { crashes: 1, late: 1, ..Left::default() }),
        stream("counts: two crashes, halves in order", Left { crashes: 2, ..Left::default() }).halving(Halves::InOrder),
    ]
}

/// Larger ones, for a longer look.
pub fn large() -> Vec<Stream> {
    vec![
        stream("counts: one of everything", Left { crashes: 1, failures: 1, lost_answers: 1, late: 1, copies: 1 }),
        stream("counts: two crashes and two copies", Left { crashes: 2, copies: 2, ..Left::default() }),
        stream("counts: shards at once", Left { crashes: 1, late: 1, copies: 1, ..Left::default() }).at_once(),
    ]
}

/// Two shards, a split between them, and six records: an order, a record that nobody can read, and the order's line; and
/// after the split the order's cancellation, whose lines are read, and another order with its line.
///
/// # Panics
/// The records do not read as what they are.
#[expect(clippy::expect_used, reason = "constants")]
pub(super) fn stream(name: &'static str, left: Left) -> Stream {
    let money = |amount: u32| json!({ "amount": amount, "currency": "EUR" });
    let order = |id: &str, status: &str, amount: u32| -> Order {
        serde_json::from_value(json!({
            "orderId": id, "customerId": "ada", "status": status, "placedAt": "2026-11-21T09:30:00.000Z", "version": 1,
            "subtotal": money(amount), "discount": money(0), "total": money(amount), "requestHash": "", "lineCount": 1,
            "shard": 0,
        }))
        .expect("an order")
    };
    let line = |id: &str, amount: u32| -> OrderItem {
        serde_json::from_value(json!({
            "orderId": id, "customerId": "ada", "placedAt": "2026-11-21T09:30:00.000Z", "shard": 0, "productId": "cup",
            "name": "A cup", "quantity": 1, "unitPrice": money(amount), "amount": money(amount),
        }))
        .expect("a line")
    };
    let (first, second) = (line("first", 3), line("second", 50));
    let lines = vec![(first.order_id.clone(), vec![first.line.clone()])];
    let shards = [
        vec![Some(Change::Placed(order("first", "PENDING", 3))), None, Some(Change::Line(first))],
        vec![
            Some(Change::Moved(order("first", "CANCELLED", 3), OrderStatus::Pending)),
            Some(Change::Placed(order("second", "PAID", 50))),
            Some(Change::Line(second)),
        ],
    ];
    let sums = shards.iter().map(|changes| {
        let mut sum = Counts::default();
        let mut sums = vec![sum.clone()];
        for change in changes {
            let counts = change.as_ref().map(|change| match change.called_off() {
                Some(_) => change.counts(&lines[0].1),
                None => change.counts(&[]),
            });
            sum.add(&counts.unwrap_or_default());
            sums.push(sum.clone());
        }
        sums
    });
    let sums = sums.collect();
    // The digits grow from one to two, as sequence numbers may.
    let written = |changes: Vec<Option<Change>>| {
        let numbered = changes.into_iter().zip(8..);
        numbered
            .map(|(change, number)| Written { number: number.to_string().parse().expect("a number"), change })
            .collect()
    };
    let shards = shards.into_iter().map(written).collect();
    Stream { name, shards, sums, lines, most_counters: 2, left, parents_first: true, halves: Halves::Never, bug: None }
}

impl Stream {
    /// The same with a known bug.
    #[cfg(test)]
    pub(super) fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    /// The same with shards that are delivered at once.
    fn at_once(self) -> Self {
        Self { parents_first: false, ..self }
    }

    /// The same with an event source that halves batches.
    pub(super) fn halving(self, halves: Halves) -> Self {
        Self { halves, ..self }
    }
}
