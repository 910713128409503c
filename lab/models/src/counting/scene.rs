//! The records: two orders in two shards, of which the second continues the first.

use counting::{Change, Counts};
use key_schema::entity::{Order, OrderItem, OrderStatus};
use key_schema::value::{Currency, Money};
use serde_json::json;

#[cfg(test)]
use super::Bug;
use super::{Left, Stream, Written};

/// The streams that `cargo test` explores.
pub fn small() -> Vec<Stream> {
    vec![
        stream("counts: a crash and a copy", Left { crashes: 1, copies: 1, ..Left::default() }),
        stream("counts: a failure and a lost answer", Left { failures: 1, lost_answers: 1, ..Left::default() }),
        stream("counts: a crash and a late transaction", Left { crashes: 1, late: 1, ..Left::default() }),
        parked("counts: a conflict and a lost answer", Left { conflicts: 1, lost_answers: 1, ..Left::default() }),
        parked(
            "counts: a conflict, a crash and two folders",
            Left { conflicts: 1, crashes: 1, folders: 1, ..Left::default() },
        ),
        parked(
            "counts: a conflict, a late transaction and two folders",
            Left { conflicts: 1, late: 1, folders: 1, ..Left::default() },
        ),
        stream("counts: two crashes", Left { crashes: 2, ..Left::default() }),
    ]
}

/// The larger streams of `cargo model`.
pub fn large() -> Vec<Stream> {
    vec![
        stream(
            "counts: one of everything",
            Left { crashes: 1, failures: 1, lost_answers: 1, late: 1, copies: 1, ..Left::default() },
        ),
        stream("counts: two crashes and two copies", Left { crashes: 2, copies: 2, ..Left::default() }),
        stream("counts: shards at once", Left { crashes: 1, late: 1, copies: 1, ..Left::default() }).at_once(),
        parked(
            "counts: shards at once, in conflict",
            Left { crashes: 1, late: 1, conflicts: 2, folders: 1, ..Left::default() },
        )
        .at_once(),
    ]
}

/// The product of all lines.
const PRODUCT: &str = "box";

/// Two shards and six records. First shard: an order, an unreadable record, and the order's line. Second shard: the
/// order's cancellation, for which the lines are read, and another order with its line.
///
/// The counters of all records are in one group, so that the model has no states that differ only in the order in which
/// groups are folded.
pub(super) fn stream(name: &'static str, left: Left) -> Stream {
    stream_of(name, false, left)
}

/// Four records without an unreadable one and without a cancellation, for models in which consumers also fold.
pub(super) fn parked(name: &'static str, left: Left) -> Stream {
    stream_of(name, true, left)
}

/// # Panics
/// If the records cannot be parsed.
#[expect(clippy::expect_used, reason = "constants")]
fn stream_of(name: &'static str, is_short: bool, left: Left) -> Stream {
    let money = |amount: u32| json!({ "amount": amount, "currency": "EUR" });
    let order = |id: &str, status: OrderStatus, amount: u32| {
        let total = Money::nearest(amount.into(), Currency::try_from("EUR".to_owned()).expect("a currency"));
        let placed_at = "2026-11-21T09:30:00.000Z".parse().expect("a time");
        let placed = Order::new(id.parse().expect("an id"), "eve".parse().expect("an id"), placed_at, total);
        Order { status, units: 0, ..placed }
    };
    let line = |id: &str, amount: u32| -> OrderItem {
        serde_json::from_value(json!({
            "orderId": id, "customerId": "eve", "placedAt": "2026-11-21T09:30:00.000Z", "shard": 0, "productId": PRODUCT,
            "name": "A thing", "quantity": 1, "unitPrice": money(amount), "amount": money(amount),
        }))
        .expect("a line")
    };
    let (first, second) = (line("first", 3), line("second", 50));
    let lines = vec![(first.order_id.clone(), vec![first.line.clone()])];
    let mut shards = [
        vec![Some(Change::Placed(order("first", OrderStatus::Pending, 3))), None, Some(Change::Line(first))],
        vec![
            Some(Change::Moved(order("first", OrderStatus::Cancelled, 3), OrderStatus::Pending.into())),
            Some(Change::Placed(order("second", OrderStatus::Paid, 50))),
            Some(Change::Line(second)),
        ],
    ];
    if is_short {
        shards[0].remove(1);
        shards[1].remove(0);
    }
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
    // The number of digits grows from one to two, as it may in sequence numbers.
    let written = |changes: Vec<Option<Change>>| {
        let numbered = changes.into_iter().zip(8..);
        numbered
            .map(|(change, number)| Written { number: number.to_string().parse().expect("a number"), change })
            .collect()
    };
    let shards = shards.into_iter().map(written).collect();
    Stream { name, shards, sums, lines, most_counters: 2, left, parents_first: true, bug: None }
}

impl Stream {
    /// Plants a known bug.
    #[cfg(test)]
    pub(super) fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    /// Delivers the shards in parallel.
    fn at_once(self) -> Self {
        Self { parents_first: false, ..self }
    }
}
