//! What Till tells the world about its orders, made from the records of the table's stream. Pure.
//!
//! - [`event_of`]: the event that a record stands for, if it stands for one.
//! - [`next_call`]: which of the events that wait may be published together.
//! - [`describe`]: the events as a part of the API's description. `docs/events.md` is made from the same types.
//!
//! **Invariant: an event is a pure function of the change it tells of, its id included.** A record that is
//! delivered again makes the same event, byte for byte, so whoever receives events can drop those whose id is
//! known.

#![warn(missing_docs)]

mod call;
mod change;
mod describe;
mod event;
#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;

pub use call::{MOST_ENTRIES, next_call};
pub use change::{Unreadable, event_of};
pub use describe::describe;
pub use event::{DETAIL_TYPES, Event, EventId, OrderPlaced, OrderStatusChanged, PaymentCaptured};

/// Where the events come from: their `source` on the bus.
pub const SOURCE: &str = "till.orders";
