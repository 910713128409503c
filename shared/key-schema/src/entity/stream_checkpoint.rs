//! The progress of counting the table's stream.

use serde::{Deserialize, Serialize};

use crate::value::{SequenceNumber, ShardId, Timestamp};

/// The lifetime of a checkpoint after its last write: eight days, in seconds. The stream keeps records for one day, so
/// no record that the checkpoint covers can be delivered again after that.
const LIFETIME: i64 = 8 * 24 * 60 * 60;

/// The checkpoint of one shard of the stream: every record up to the mark is counted, and none after it.
///
/// The mark is written in the same transaction as the counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamCheckpoint {
    pub shard_id: ShardId,
    /// The sequence number of the last record that is counted.
    pub mark: SequenceNumber,
    pub updated_at: Timestamp,
    /// The time of expiry, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
}

impl StreamCheckpoint {
    /// The checkpoint of a shard that is counted up to `mark`.
    pub fn new(shard_id: ShardId, mark: SequenceNumber, now: Timestamp) -> Self {
        Self { shard_id, mark, updated_at: now, expires_at: now.as_second() + LIFETIME }
    }
}
