//! Orders that are placed later, from the queue.
//!
//! - `waiting_room`: whether an order has to go to the queue first.
//! - `intake`: accepting an order, which sends its message.
//! - `message`: the message.
//! - `refuse`: refusing or delaying the order of a message, which cannot be placed.

pub(crate) mod intake;
pub(crate) mod message;
pub(crate) mod refuse;
pub(crate) mod waiting_room;
