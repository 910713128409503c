//! Orders: placing them, by one code path whoever asks, and what happens to them after.
//!
//! - [`Basket`]: what a customer asks for, checked against the limits of one transaction.
//! - [`Quote`]: what it costs and who pays what. Pure arithmetic.
//! - [`Placing`]: which request to make next, and what its answer means. No I/O.
//! - [`Orders::place`]: reads, quotes and commits, as often as it takes within its budget.
//! - [`Intake`]: accepts an order that is to be placed later, and puts it into the queue.
//! - [`Lifecycle`]: paid, shipped, delivered, cancelled. [`changing`]: which request to make next. [`steps`]: what becomes
//!   of the order. Both pure.
//!
//! **Invariant: an order is placed whole or not at all, and once.** Everything it writes is one transaction, whose
//! first condition is that the order, whose id is a function of the request, is not there yet.

#![warn(missing_docs)]

mod basket;
mod canonical;
pub mod changing;
mod intake;
mod lifecycle;
mod message;
mod place;
mod placing;
mod quote;
pub mod steps;
#[cfg(test)]
mod tests;
mod transaction;

pub use basket::{Basket, BasketError, MOST_GIFT_CARDS, MOST_LINES, OrderRequest, RequestedLine};
pub use intake::{Acceptance, Intake, NotAccepted, queueing};
pub use lifecycle::{Lifecycle, Transitioned};
pub use message::{Unreadable, Waiting};
pub use place::{Accepted, Orders, PlaceOrder, Placement, refusal};
pub use placing::{Attempt, Next, Origin, Placing};
pub use quote::{Found, FoundItem, Quote};
