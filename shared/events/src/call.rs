//! What is published together.

use std::collections::BTreeSet;

use key_schema::value::OrderId;

/// The most entries of one `PutEvents`. They are far from its 256 KB: no event is larger than 2 KB.
pub const MOST_ENTRIES: usize = 10;

/// Which of the events that wait go into the next call: the oldest of each order, up to [`MOST_ENTRIES`].
///
/// EventBridge may take some entries of a call and fail others. Two of one order in a call might therefore arrive
/// the wrong way round.
pub fn next_call<'a>(waiting: impl IntoIterator<Item = (usize, &'a OrderId)>) -> Vec<usize> {
    let mut orders = BTreeSet::new();
    let oldest_of_each = waiting.into_iter().filter(|(_, order)| orders.insert(*order));
    oldest_of_each.map(|(position, _)| position).take(MOST_ENTRIES).collect()
}
