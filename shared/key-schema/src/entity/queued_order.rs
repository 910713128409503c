//! Orders that wait in the queue.

use serde::{Deserialize, Serialize};

use crate::value::{CustomerId, Money, OrderId, RequestHash, Timestamp};

use super::Rejection;

/// How long it is remembered that an order was accepted: as long as SQS may keep a message. One that is older,
/// because it was sent anew, is not placed.
const REMEMBERED_SECONDS: i64 = 14 * 24 * 60 * 60;

/// An order that was accepted, to be placed later. Once it is placed, the order itself is what counts, and this is
/// left to expire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueuedOrder {
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// What the customer asked for: tells a repeated request from another one under the same key.
    pub request_hash: RequestHash,
    /// When it was accepted.
    pub queued_at: Timestamp,
    /// The most that the order may cost: what it came to when it was accepted without its customer having asked to
    /// wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total: Option<Money>,
    /// Since when its message is a dead letter, if it is: somebody has to look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_since: Option<Timestamp>,
    /// Why it was not placed after all, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// From when on it is gone, in seconds since 1970. DynamoDB's TTL deletes it some time after that.
    pub expires_at: i64,
}

/// When and why an accepted order was not placed after all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub rejection: Rejection,
}

impl QueuedOrder {
    /// An order that is accepted at this moment.
    pub fn new(order_id: OrderId, customer_id: CustomerId, request_hash: RequestHash, queued_at: Timestamp) -> Self {
        let expires_at = queued_at.as_second() + REMEMBERED_SECONDS;
        Self {
            order_id,
            customer_id,
            request_hash,
            queued_at,
            max_total: None,
            dead_since: None,
            refusal: None,
            expires_at,
        }
    }

    /// Whether it is gone, whether or not DynamoDB has deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }

    /// Whether it is still to be placed.
    pub fn waits(&self, now: Timestamp) -> bool {
        self.refusal.is_none() && !self.is_expired(now)
    }
}
