//! The events that Till publishes about orders, products and customers, made from the table's stream without I/O.
//!
//! - [`drafts_of`] makes the events of a record.
//! - [`next_call`] decides which waiting events may be published together.
//! - [`describe`] adds the events to the API's description. `docs/events.md` is generated from the same types.
//!
//! To add a kind of event: write a struct by `event!`, add its name to the
//! list in `event.rs`, and add a case to [`drafts_of`]. Events of another entity also need a filter in `template.yaml`.
//!
//! **Invariant: an event, including its id, is a pure function of the change.** A record that is delivered again makes
//! the same event, byte for byte, so receivers can drop events with a known id. (The lines of an order are not in its
//! record, but they are written in the same transaction and never change.)

#[macro_use]
mod fields;

mod call;
mod card;
mod change;
mod customer;
mod describe;
mod event;
mod id;
mod order;
#[cfg(test)]
mod page;
mod payment;
mod product;
mod refund;
#[cfg(test)]
mod releases;
mod returns;
mod shipments;
#[cfg(test)]
mod tests;

pub use call::{MOST_BYTES, MOST_ENTRIES, Waiting, next_call};
pub use change::{Draft, Record, Unreadable, drafts_of};
pub use customer::CustomerErased;
pub use describe::describe;
pub use event::{Event, KINDS, Kind, LAYOUT_VERSION, Subject};
pub use id::EventId;
pub use order::{
    AmountCredited, MissingLines, OrderPlaced, OrderRejected, OrderStatusChanged, PaymentCaptured, UnitsCancelled,
};
pub use payment::{Failure, OrderExpired, PaymentAuthorized, PaymentDisputed, PaymentDue, PaymentFailed};
pub use product::{AvailabilityChanged, ProductChanged, ProductRemoved, StockRanLow};
pub use refund::{RefundDue, RefundFailed, RefundMade};
pub use returns::{ReturnReceived, ReturnRequested};
pub use shipments::{ItemsShipped, ShipmentDelivered};
