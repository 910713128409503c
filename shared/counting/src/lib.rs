//! Exact counts of orders, from the table's stream.
//!
//! Lambda delivers every stream record at least once: it repeats a batch that was not answered, splits it, makes it
//! longer, or starts a shard over. A consumer that only added would count records twice. So each shard has a checkpoint
//! with a **mark**: the sequence number of the last record that is counted. A batch is applied in transactions that
//! change the counters and move the mark, on condition that the mark is where the consumer expects it. Two invariants
//! follow:
//!
//! 1. **Prefix.** At every moment, each counter together with its parked counts is the sum of the records up to the mark
//!    of each shard, except those that were given up: the shard's checkpoint lists them until they are counted after all.
//! 2. **Completeness.** Once every record was delivered, the counters are the sums over the orders themselves.
//!
//! Both hold for repeated deliveries, for concurrent consumers, and wherever a consumer crashes. They require only that
//! no delivery skips records of its shard that are not counted yet. The mark that a consumer is told or remembers is
//! only a hint: it can save a read, but no record is ever skipped because of it.
//!
//! # Many shards
//!
//! The shards' transactions meet at the same counters: those of the day and of popular products. DynamoDB cancels a
//! transaction that meets another one, and the more shards there are, the fewer succeed. So a batch whose transactions
//! meet others twice **parks** its counts: its transaction moves the mark and puts one new item for each of a few groups
//! of counters, which nobody else writes. Then one consumer at a time, who holds the group's lease, **folds** the group:
//! one transaction adds the parked counts of many batches to the counters and deletes them, on condition that they are
//! still there. So they are added once, whoever else folds them and whatever becomes of the lease. Every counter belongs
//! to one group, so those who fold different groups never meet. A consumer that has parked counts either folds them or
//! waits until they are folded. So the batches that are answered are counted, and no shard gets far ahead of the folding.
//!
//! Additions commute. So the order of shards does not matter, and a child shard, which begins without a mark, need not
//! wait for its parents. A counter may be negative for a while if one shard's cancellation is counted before another
//! shard's order.
//!
//! - [`Change`]: the meaning of one stream record.
//! - [`Counts`]: the amounts that changes add to the counters.
//! - [`Batch`]: the decisions of counting a batch, as a state machine.
//! - [`Folding`]: the decisions of adding parked counts to the counters, as a state machine.
//! - [`Bounds`]: the values that the counters may have, given the orders.
//!
//! **Invariant: no AWS client, no async and no clock, so that tests explore thousands of schedules.**

#![warn(missing_docs)]

mod batch;
mod bounds;
mod change;
mod counts;
mod folding;
#[cfg(test)]
mod tests;

pub use batch::{Batch, MOST_COUNTERS, MOST_PARKED, MOST_UNFOLDED, Next, PARKED_FOR, Progress, Record, Step};
pub use bounds::{Aggregate, Bounds};
pub use change::{Before, Change, Uncountable};
pub use counts::Counts;
pub use folding::{Fold, Folding, Work};
