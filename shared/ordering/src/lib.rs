//! Orders: placing them, by one code path for requests and queue messages, and changing them afterwards.
//!
//! - [`Basket`]: a customer's request, checked against the limits of one transaction.
//! - [`Quote`]: the prices, the discount and the payments of an order. Arithmetic without I/O.
//! - [`Quotes`]: answers what an order would cost, and writes nothing.
//! - [`Placing`]: the decisions of placing an order, as a state machine without I/O.
//! - [`Orders::place`]: reads, quotes and commits, and retries conflicts within the budget.
//! - [`Intake`]: accepts an order that is placed later, and sends it to the queue.
//! - [`WaitingRoom`]: decides whether orders go to the queue first, because many wait there.
//! - [`Lifecycle`]: pays, ships, delivers, cancels or takes back an order, or a part of it. [`changing`] has its decisions as a state machine,
//!   [`steps`] the rules of each change. Neither does I/O.
//!
//! **Invariant: an order is placed completely or not at all, and once.** Everything that placing writes is one
//! transaction. Its first condition is that the order does not exist; the order's id is a function of the customer and
//! the idempotency key.

mod access;
mod basket;
mod canonical;
mod capture_when;
mod cart;
pub mod changing;
mod discounts;
mod found;
mod intake;
mod lifecycle;
mod max_open_units;
mod message;
mod new_order;
mod numbering;
mod pay_later;
mod place;
mod placing;
mod quote;
mod quoting;
mod read_plan;
mod ship_to;
pub mod steps;
mod tax_engine;
mod tax_rules;
#[cfg(test)]
mod tests;
mod transaction;
mod waiting_room;
mod withdrawal;

pub use access::*;
pub use basket::{Basket, BasketError, MOST_CODES, MOST_GIFT_CARDS, MOST_LINES, OrderRequest, RequestedLine};
pub use capture_when::CaptureWhen;
pub use found::{Found, FoundItem};
pub use intake::{Acceptance, Intake, NotAccepted, queueing};
pub use lifecycle::{Lifecycle, Target, Transitioned};
pub use max_open_units::MaxOpenUnits;
pub use message::{Unreadable, Waiting};
pub use numbering::Numbering;
pub use pay_later::PayLater;
pub use place::{Accepted, Orders, PlaceOrder, Placement, refusal};
pub use placing::{Attempt, Next, Origin, Placing};
pub use quote::Quote;
pub use quoting::{NotQuoted, Quotes};
pub use ship_to::{SavedId, ShipTo};
pub use tax_engine::{READ_TAX_SECRET, Said, TaxEngine, TaxQuestion, Untaxed};
pub use tax_rules::TaxRules;
pub use waiting_room::WaitingRoom;
pub use withdrawal::Withdrawal;
