//! A batch of the table's stream, as Lambda delivers it to the functions that consume it, and the queue of the records
//! that they give up.
//!
//! - [`Batch`] holds each record as it came ([`Delivered`]), read or not: a record that cannot be read fails alone.
//! - [`LostRecords`] takes a record that can never be processed, whole and with the reason.
//!
//! **Invariant: a consumer passes a record over only after the queue of lost records has taken it.** Lambda gives up a
//! batch as a whole and only once it is old, so that a consumer which waited for that would lose the neighbours, too.

#![warn(missing_docs)]

mod batch;
mod lost;

pub use batch::{Batch, Delivered, Record};
pub use lost::LostRecords;
