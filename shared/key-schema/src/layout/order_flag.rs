//! Flags of orders. The list of flagged orders is a sparse index: a flag exists only while its order is flagged.

use crate::entity::OrderFlag;
use crate::value::{OrderId, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template, order};

const FLAG: Place<OrderId, ()> = Place::table(order::COLLECTION, Template::new("flag"));
const FLAGGED: Place<(), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("flagged"), Template::new("{flaggedAt}#{orderId}"));

/// The flags of all flagged orders, oldest first.
pub const FLAGGED_ORDERS: Pattern<(), OrderFlag> = FLAGGED.list(16, "the flagged orders");

impl OrderFlag {
    /// The key of an order's flag.
    pub fn key_of(order: &OrderId) -> Key {
        FLAG.key(order, ())
    }
}

impl Stored for OrderFlag {
    const PLACES: &'static [PlaceText] = &[FLAG.text(), FLAGGED.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![FLAGGED.key((), (&self.flagged_at, &self.order_id))]
    }
}
