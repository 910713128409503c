//! What the table's stream says about orders, as exact counts.
//!
//! The stream tells of every change at least once: Lambda delivers a batch again when it was not answered, splits
//! it, makes it longer, or starts a shard over. A counter that only added would count twice. So each batch is
//! applied in transactions that move the shard's mark, the last record that is counted, together with the counters,
//! under the condition that the mark is where it was taken to be:
//!
//! 1. **Prefix.** At every moment each counter is the sum, over all shards, of the records up to the shard's mark.
//! 2. **Completeness.** When every record was delivered once, the counters are the sums over the orders themselves.
//!
//! Both hold whatever is delivered, as long as no delivery leaves out what comes before it in its shard; however
//! often, by however many consumers at once, and wherever any of them dies. What a consumer is told or remembers of
//! the mark is a hint: it may spare a read, and no record is ever left out because of it.
//!
//! Additions commute. So shards need no order among each other, and a child shard, which begins without a mark,
//! needs not wait for its parents. Only between two shards may a counter be below zero, when what is undone is
//! counted before what was done.
//!
//! - [`Change`]: what one record of the stream means.
//! - [`Counts`]: what that adds to the counters.
//! - [`Batch`]: what to read and what to write until a batch is counted. It does neither itself.
//! - [`Bounds`]: the other way round, what the counters must be, given the orders as they are.
//!
//! **Invariant: pure. No AWS client, no async, no clock, so that the laws are tested over thousands of schedules.**

#![warn(missing_docs)]

mod batch;
mod bounds;
mod change;
mod counts;
#[cfg(test)]
mod tests;

pub use batch::{Batch, MOST_COUNTERS, Next, Progress, Record, Step};
pub use bounds::{Aggregate, Bounds};
pub use change::{Change, Uncountable};
pub use counts::Counts;
