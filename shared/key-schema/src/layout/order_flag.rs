//! Flags of orders. The list of flagged orders is a sparse index: a flag exists only while its order is flagged.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 16 [`FlaggedOrders`] | GSI1 | `flagged` | `{flaggedAt}#{orderId}` |

use crate::entity::{Entity as _, OrderFlag};
use crate::value::{OrderId, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    order,
};

const FLAG: Place<(OrderId,), ()> = Place::table(order::COLLECTION, Template::new("flag"));
const FLAGGED: Place<(), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("flagged"), Template::new("{flaggedAt}#{orderId}"));

impl OrderFlag {
    /// The key of an order's flag.
    pub fn key_of(order: &OrderId) -> Key {
        FLAG.key((order,), ())
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

/// The flags of all flagged orders, oldest first.
pub struct FlaggedOrders;

impl AccessPattern for FlaggedOrders {
    type Item = OrderFlag;

    const DECLARED: Declaration = Declaration {
        number: 16,
        question: "the flagged orders",
        place: FLAGGED.text(),
        entities: &[OrderFlag::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        FLAGGED.partition.fill(())
    }

    fn range(&self) -> SortRange {
        FLAGGED.all()
    }
}
