//! Answers that are kept for requests with an idempotency key.

use serde::{Deserialize, Serialize};

use crate::value::{IdempotencyRecordId, RequestHash, Timestamp};

/// How long an answer is kept: three days, in seconds. A client that has not heard for longer has to look for itself.
const KEPT_SECONDS: i64 = 3 * 24 * 60 * 60;

/// The answer to a request that had an idempotency key, written in the transaction that did what was asked. The same
/// request again is answered from here. Only for requests that would otherwise be done twice: an order, say, is its own
/// record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdempotencyRecord {
    /// Names caller and key.
    pub record_id: IdempotencyRecordId,
    /// The request: tells a repeated one from another one under the same key.
    pub request_hash: RequestHash,
    /// The answer's status code.
    pub status: u16,
    /// The answer's `Location`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The version in the answer's `ETag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The answer's body, as JSON.
    pub body: String,
    /// From when on it is gone, in seconds since 1970. DynamoDB's TTL deletes it some time after that.
    pub expires_at: i64,
}

impl IdempotencyRecord {
    /// From when on a record that is made at this moment is gone.
    pub fn expiry(made_at: Timestamp) -> i64 {
        made_at.as_second() + KEPT_SECONDS
    }

    /// Whether it is gone, whether or not DynamoDB has deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }
}
