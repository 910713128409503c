//! Stored answers to requests with an idempotency key.

use serde::{Deserialize, Serialize};

use crate::value::{IdempotencyRecordId, RequestHash, Timestamp};

/// The time for which an answer is stored: three days, in seconds. A client that repeats a request later than that must
/// find out the outcome by other requests.
const KEPT_SECONDS: i64 = 3 * 24 * 60 * 60;

/// The answer to a request with an idempotency key, written in the same transaction as the request's effect. A repeated
/// request gets this answer.
///
/// Only requests that could otherwise take effect twice have such a record. An order, for example, needs none: its id
/// is a function of the key.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdempotencyRecord {
    /// A function of the caller and the key.
    pub record_id: IdempotencyRecordId,
    /// The hash of the request, which distinguishes a repeated request from a different one with the same key.
    pub request_hash: RequestHash,
    /// The answer's status code.
    pub status: u16,
    /// The answer's `Location`.
    pub location: Option<String>,
    /// The version in the answer's `ETag`.
    pub version: Option<u64>,
    /// The answer's body, as JSON.
    pub body: String,
    /// The time of expiry, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
}

impl IdempotencyRecord {
    /// The time of expiry of a record that is created at this moment, in seconds since 1970.
    pub fn expiry(created_at: Timestamp) -> i64 {
        created_at.as_second() + KEPT_SECONDS
    }

    /// Whether the record has expired, even if DynamoDB has not deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }
}
