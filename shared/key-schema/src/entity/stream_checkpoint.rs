//! The progress of counting the table's stream.

use serde::{Deserialize, Serialize};

use super::Uncounted;
use crate::value::{SequenceNumber, ShardId, Timestamp};

/// The lifetime of a checkpoint after its last write: eight days, in seconds. The stream keeps records for one day, so
/// no record that the checkpoint covers can be delivered again after that.
const LIFETIME: i64 = 8 * 24 * 60 * 60;

/// The lifetime of a checkpoint with records that are not counted, and of the checkpoint of repairs. What was given up is
/// kept for 30 days, and may be counted in all that time.
const LONG_LIFETIME: i64 = 31 * 24 * 60 * 60;

/// The checkpoint of one shard of the stream: every record up to the mark is counted, except those that it lists, and
/// none after it.
///
/// The mark is written in the same transaction as the counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamCheckpoint {
    pub shard_id: ShardId,
    /// The sequence number of the last record that is counted or passed.
    pub mark: SequenceNumber,
    /// The time of the record at the mark, or 1970 if it could not be read.
    pub marked_at: Timestamp,
    /// The records before the mark that are not counted.
    #[serde(default, skip_serializing_if = "Uncounted::is_empty")]
    pub uncounted: Uncounted,
    pub updated_at: Timestamp,
    /// The time of expiry, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
}

impl StreamCheckpoint {
    /// The age of a record, in seconds, after which its shard may have no checkpoint any more.
    pub const KEPT_FOR: i64 = LIFETIME - 24 * 60 * 60;

    /// The checkpoint of a shard that is counted up to `mark`, whose record is of this time.
    pub fn new(
        shard_id: ShardId,
        mark: SequenceNumber,
        marked_at: Timestamp,
        uncounted: Uncounted,
        now: Timestamp,
    ) -> Self {
        let lifetime = if uncounted.is_empty() { LIFETIME } else { LONG_LIFETIME };
        Self { shard_id, mark, marked_at, uncounted, updated_at: now, expires_at: now.as_second() + lifetime }
    }

    /// The same checkpoint with other records that are not counted.
    #[must_use]
    pub fn with_uncounted(&self, uncounted: Uncounted, now: Timestamp) -> Self {
        Self::new(self.shard_id.clone(), self.mark.clone(), self.marked_at, uncounted, now)
    }

    /// The checkpoint of repairs. A repair makes counters the sums over the orders, so what was given up before the repair
    /// must not be counted after it. `updated_at` is the time of the last repair.
    ///
    /// Its shard is none: the stream's own shards have other names.
    pub fn of_repairs(now: Timestamp) -> Self {
        let checkpoint =
            Self::new(ShardId::of_repairs(), SequenceNumber::zero(), Timestamp::EPOCH, Uncounted::default(), now);
        Self { expires_at: now.as_second() + LONG_LIFETIME, ..checkpoint }
    }
}
