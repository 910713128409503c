//! Batches of the table's stream, as Lambda delivers them, and the queue for records that a consumer gives up.
//!
//! - [`Batch`] holds each record as it was [delivered](Delivered). A record that cannot be read fails alone.
//! - [`LostRecords`] takes a record that can never be processed, with the reason.
//!
//! **Invariant: a consumer skips a record only after the queue of lost records has accepted it.** Lambda itself gives
//! up only whole batches, and only once they are old. A consumer that left this to Lambda would lose the other records
//! of the batch as well.

#![warn(missing_docs)]

mod batch;
mod lost;

pub use batch::{Batch, Delivered, Record};
pub use lost::LostRecords;

use lambda::Grant;

/// What Lambda asks of the stream with the role of a function that consumes it.
pub const READ: [Grant; 2] = [
    Grant::new(&["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"], "TableStream"),
    Grant::new(&["dynamodb:ListStreams"], "Table/stream/*"),
];
