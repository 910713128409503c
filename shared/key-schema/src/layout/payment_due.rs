//! Payments on which the shop has to act. Their list is a sparse index: a mark exists only while its payment is due.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 23 [`PaymentsDue`] | GSI1 | `due#{shard}` | `{since}#{orderId}` |

use crate::entity::{Entity as _, PaymentDue};
use crate::value::{OrderId, TimeRange, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    order,
};

const DUE: Place<(OrderId,), ()> = Place::table(order::COLLECTION, Template::new("due"));
const ALL_DUE: Place<(u8,), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("due#{shard}"), Template::new("{since}#{orderId}"));

impl PaymentDue {
    /// The key of an order's mark.
    pub fn key_of(order: &OrderId) -> Key {
        DUE.key((order,), ())
    }
}

impl Stored for PaymentDue {
    const PLACES: &'static [PlaceText] = &[DUE.text(), ALL_DUE.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![ALL_DUE.key((&self.shard,), (&self.since, &self.order_id))]
    }
}

/// The payments of one shard that have been due since this range of time, oldest first.
pub struct PaymentsDue<'a> {
    pub shard: u8,
    pub since: &'a TimeRange,
}

impl<'a> PaymentsDue<'a> {
    /// The patterns of all shards of the list.
    pub fn in_shards(shards: u8, since: &'a TimeRange) -> Vec<Self> {
        (0..shards).map(|shard| Self { shard, since }).collect()
    }
}

impl AccessPattern for PaymentsDue<'_> {
    type Item = PaymentDue;

    const DECLARED: Declaration = Declaration {
        number: 23,
        question: "the payments that are due, shards merged",
        place: ALL_DUE.text(),
        entities: &[PaymentDue::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        ALL_DUE.partition.fill((&self.shard,))
    }

    fn range(&self) -> SortRange {
        ALL_DUE.within(self.since)
    }
}
