//! Returns. The list of open returns is a sparse index: a return has an entry only while it is requested.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 24 [`OpenReturns`] | GSI1 | `returns#{shard}` | `{requestedAt}#{returnId}` |

use crate::entity::{Entity as _, Return, ReturnStatus};
use crate::value::{OrderId, ReturnId, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    order,
};

const RETURN: Place<(OrderId,), (ReturnId,)> = Place::table(order::COLLECTION, Template::new("r#{returnId}"));
const OPEN: Place<(u8,), (Timestamp, ReturnId)> =
    Place::gsi1(Template::new("returns#{shard}"), Template::new("{requestedAt}#{returnId}"));

impl Stored for Return {
    const PLACES: &'static [PlaceText] = &[RETURN.text(), OPEN.text()];

    fn key(&self) -> Key {
        RETURN.key((&self.order_id,), (&self.return_id,))
    }

    fn index_keys(&self) -> Vec<Key> {
        if self.status == ReturnStatus::Requested {
            vec![OPEN.key((&self.shard,), (&self.requested_at, &self.return_id))]
        } else {
            Vec::new()
        }
    }
}

/// The open returns of one shard, oldest first. The list is the merge of all its shards.
pub struct OpenReturns {
    pub shard: u8,
}

impl OpenReturns {
    /// The patterns of all shards of the list.
    pub fn in_shards(shards: u8) -> Vec<Self> {
        (0..shards).map(|shard| Self { shard }).collect()
    }
}

impl AccessPattern for OpenReturns {
    type Item = Return;

    const DECLARED: Declaration = Declaration {
        number: 24,
        question: "the open returns, shards merged",
        place: OPEN.text(),
        entities: &[Return::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OPEN.partition.fill((&self.shard,))
    }

    fn range(&self) -> SortRange {
        OPEN.all()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_return_is_in_the_list_only_while_it_is_requested() {
        let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
        let requested = Return {
            return_id: ReturnId::of(&order, &"a key".parse().expect("a key")),
            order_id: order,
            customer_id: "ada".parse().expect("an id"),
            shard: 3,
            lines: Vec::new(),
            reason: None,
            requested_at: "2026-11-22T10:00:00.000Z".parse().expect("a time"),
            status: ReturnStatus::Requested,
            closed_at: None,
            restocked: false,
            amount: None,
            refusal: None,
        };
        assert_eq!(requested.index_keys().len(), 1);
        for status in [ReturnStatus::Received, ReturnStatus::Refused] {
            assert_eq!(Return { status, ..requested.clone() }.index_keys(), []);
        }
        assert!(OpenReturns::in_shards(4).iter().map(|list| list.shard).eq(0..4));
    }
}
