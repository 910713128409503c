//! Orders that wait in the queue, and those that were refused when their turn came. They lie in the order's own
//! item collection, and pattern 3 [`OrderById`](super::OrderById) reads them there.

use crate::entity::QueuedOrder;
use crate::value::OrderId;

use super::{Key, Place, PlaceText, Stored, Template, order};

const QUEUED: Place<(OrderId,), ()> = Place::table(order::COLLECTION, Template::new("queued"));

impl Stored for QueuedOrder {
    const PLACES: &'static [PlaceText] = &[QUEUED.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }
}

impl QueuedOrder {
    /// The key of what says that an order waits.
    pub fn key_of(order: &OrderId) -> Key {
        QUEUED.key((order,), ())
    }
}
