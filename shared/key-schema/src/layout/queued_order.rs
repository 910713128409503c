//! Orders in the queue, and queued orders that were refused. The item is in the order's item collection, where pattern
//! 3, [`ORDER_BY_ID`](super::ORDER_BY_ID), reads it.

use crate::entity::QueuedOrder;
use crate::value::OrderId;

use super::{Key, Place, PlaceText, Stored, Template, order};

const QUEUED: Place<OrderId, ()> = Place::table(order::COLLECTION, Template::new("queued"));

impl Stored for QueuedOrder {
    const PLACES: &'static [PlaceText] = &[QUEUED.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }
}

impl QueuedOrder {
    /// The key of an order's item in the queue.
    pub fn key_of(order: &OrderId) -> Key {
        QUEUED.key(order, ())
    }
}
