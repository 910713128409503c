//! Orders in the queue.

use serde::{Deserialize, Serialize};

use crate::value::{CustomerId, Money, OrderId, RequestHash, Timestamp};

use super::Rejection;

/// The lifetime of the item: the longest time for which SQS keeps a message. An order whose message is older, because
/// it was sent again, is not placed.
const LIFETIME_SECONDS: i64 = 14 * 24 * 60 * 60;

/// An order that was accepted to be placed later. Once the order is placed, this item has no meaning and expires.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueuedOrder {
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    /// The hash of the request, which distinguishes a repeated request from a different one with the same key.
    pub request_hash: RequestHash,
    /// The time at which the order was accepted.
    pub queued_at: Timestamp,
    /// The most that the order may cost. Set if the order was queued although its customer did not ask for that.
    pub max_total: Option<Money>,
    /// The time at which the order's message went to the dead-letter queue, where an operator must handle it.
    pub dead_since: Option<Timestamp>,
    /// The refusal, if the order could not be placed.
    pub refusal: Option<Refusal>,
    /// The request that was accepted, by the gateway's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The time of expiry, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
}

/// The reason why an accepted order was not placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub at: Timestamp,
    pub rejection: Rejection,
}

impl QueuedOrder {
    /// An order that is accepted at `queued_at`.
    pub fn new(order_id: OrderId, customer_id: CustomerId, request_hash: RequestHash, queued_at: Timestamp) -> Self {
        let expires_at = queued_at.as_second() + LIFETIME_SECONDS;
        Self {
            order_id,
            customer_id,
            request_hash,
            queued_at,
            max_total: None,
            dead_since: None,
            refusal: None,
            request_id: None,
            expires_at,
        }
    }

    /// Whether the item has expired, even if DynamoDB has not deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }

    /// Whether the order is still waiting to be placed, if it has not been placed already.
    pub fn waits(&self, now: Timestamp) -> bool {
        self.refusal.is_none() && !self.is_expired(now)
    }
}
