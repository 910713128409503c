//! Payments on which the shop has to act. Their list is a sparse index: a mark exists only while its payment is due.

use crate::entity::PaymentDue;
use crate::value::{OrderId, TimeRange, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template, order};

const DUE: Place<OrderId, ()> = Place::table(order::COLLECTION, Template::new("due"));
const ALL_DUE: Place<u8, (Timestamp, OrderId)> =
    Place::gsi1(Template::new("due#{shard}"), Template::new("{since}#{orderId}"));

/// The payments of one shard that have been due since this range of time, oldest first.
pub const PAYMENTS_DUE: Pattern<(u8, TimeRange), PaymentDue> =
    ALL_DUE.list(23, "the payments that are due, shards merged");

impl PaymentDue {
    /// The key of an order's mark.
    pub fn key_of(order: &OrderId) -> Key {
        DUE.key(order, ())
    }
}

impl Stored for PaymentDue {
    const PLACES: &'static [PlaceText] = &[DUE.text(), ALL_DUE.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![ALL_DUE.key(&self.shard, (&self.since, &self.order_id))]
    }
}
