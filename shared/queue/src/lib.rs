//! SQS: the queue of orders that wait for capacity, and its dead-letter queue.
//!
//! - [`Queue`] sends messages. [`Source`] retries, postpones or buries the messages that a consumer received.
//!
//! **Invariant: a message leaves a queue only once its work is done, or once another queue holds it.** Every message
//! may arrive twice, late, and in any order.

#![warn(missing_docs)]

mod error;
mod sqs;

pub use error::Error;
pub use sqs::{Delay, FAILURES, Message, Queue, REASON, Received, Source};
