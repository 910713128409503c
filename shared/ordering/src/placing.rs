//! Placing an order, told in order: a request comes in, an attempt is under way, an outcome ends it.
//!
//! 1. `request`: the [`OrderRequest`](crate::OrderRequest), and the limits that one transaction sets for it.
//! 2. `read`: the items that the order depends on, how they are read, and as they were read.
//! 3. `quote`: prices, discounts, shipping, taxes and payments, or the reason why the order is refused.
//! 4. `guests`: what guests together may hold without paying.
//! 5. `tax_engine`: the shop's tax engine, if the shop has one.
//! 6. `decide`: the [`PlacingAttempt`](crate::PlacingAttempt), a state machine without I/O.
//! 7. `write`: the transaction, and what its cancellation means.
//! 8. `drive`: the loop that makes the requests, and answers with a [`PlacingOutcome`](crate::PlacingOutcome).

pub(crate) mod decide;
pub(crate) mod drive;
mod guests;
pub(crate) mod quote;
pub(crate) mod read;
pub(crate) mod request;
pub(crate) mod tax_engine;
mod write;
