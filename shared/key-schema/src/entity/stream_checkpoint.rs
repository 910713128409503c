//! How far the table's stream is counted.

use serde::{Deserialize, Serialize};

use crate::value::{SequenceNumber, ShardId, Timestamp};

/// How long a checkpoint outlives its last move, in seconds: eight days. The records it stands for are gone from
/// the stream after one, and what a replay does not bring needs no mark.
const LIFETIME: i64 = 8 * 24 * 60 * 60;

/// How far one shard of the stream is counted: everything up to the mark, and nothing after it.
///
/// The mark moves in the transaction that adds to the counters, so that neither is ever without the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamCheckpoint {
    /// Which shard.
    pub shard_id: ShardId,
    /// The last record that is counted.
    pub mark: SequenceNumber,
    /// When the mark moved.
    pub updated_at: Timestamp,
    /// From when on it is of no use, in seconds since 1970. DynamoDB's TTL deletes it some time after that.
    pub expires_at: i64,
}

impl StreamCheckpoint {
    /// The checkpoint of a shard that is counted up to `mark` as of now.
    pub fn new(shard_id: ShardId, mark: SequenceNumber, now: Timestamp) -> Self {
        Self { shard_id, mark, updated_at: now, expires_at: now.as_second() + LIFETIME }
    }
}
