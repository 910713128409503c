//! The queue of writes that wait for capacity.
//!
//! - [`Queue`]: what place-order may do with it. [`Source`]: what its consumer may do with what it received.
//!
//! **Invariant: a message leaves the queue only once its work is done, or once another queue holds it.** Whatever
//! is sent may arrive twice, late and in any order.

#![warn(missing_docs)]

mod error;
mod sqs;

pub use error::Error;
pub use sqs::{Delay, FAILURES, Message, Queue, REASON, Received, Source};
