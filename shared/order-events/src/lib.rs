//! What Till tells the world about its orders and products, made from the records of the table's stream. Pure.
//!
//! - [`draft_of`]: the event that a record stands for, if it stands for one.
//! - [`next_call`]: which of the events that wait may be published together.
//! - [`describe`]: the events as a part of the API's description. `docs/events.md` is made from the same types.
//!
//! A new kind of event is a struct with `id`, `layout_version` and the id of its subject, a name in the list of
//! `event.rs`, and a case in [`draft_of`]. A new entity needs a filter in `template.yaml`, too.
//!
//! **Invariant: an event is a pure function of the change it tells of, its id included.** A record that is
//! delivered again makes the same event, byte for byte, so whoever receives events can drop those whose id is
//! known. (The lines of an order are not in its record, but they are written with it and never change.)

#![warn(missing_docs)]

mod call;
mod change;
mod describe;
mod event;
mod id;
mod order;
#[cfg(test)]
mod page;
mod product;
mod refund;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod tests;

pub use call::{MOST_BYTES, MOST_ENTRIES, Waiting, next_call};
pub use change::{Draft, Record, Unreadable, draft_of};
pub use describe::describe;
pub use event::{Event, KINDS, Kind, LAYOUT_VERSION, Subject};
pub use id::EventId;
pub use order::{MissingLines, OrderPlaced, OrderRejected, OrderStatusChanged, PaymentCaptured};
pub use product::{ProductChanged, ProductRemoved};
pub use refund::{RefundDue, RefundMade};
