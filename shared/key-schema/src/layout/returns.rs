//! Returns. The list of open returns is a sparse index: a return has an entry only while it is requested.

use crate::entity::{Return, ReturnStatus};
use crate::value::{OrderId, ReturnId, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template, order};

const RETURN: Place<OrderId, ReturnId> = Place::table(order::COLLECTION, Template::new("r#{returnId}"));
const OPEN: Place<u8, (Timestamp, ReturnId)> =
    Place::gsi1(Template::new("returns#{shard}"), Template::new("{requestedAt}#{returnId}"));

/// The open returns of one shard, oldest first. The list is the merge of all its shards.
pub const OPEN_RETURNS: Pattern<u8, Return> = OPEN.list(24, "the open returns, shards merged");

impl Stored for Return {
    const PLACES: &'static [PlaceText] = &[RETURN.text(), OPEN.text()];

    fn key(&self) -> Key {
        RETURN.key(&self.order_id, &self.return_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        if self.status == ReturnStatus::Requested {
            vec![OPEN.key(&self.shard, (&self.requested_at, &self.return_id))]
        } else {
            Vec::new()
        }
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
    }
}
