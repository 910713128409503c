//! Counts on their way to the counters.

use serde::{Deserialize, Serialize};

use crate::value::{HolderId, SequenceNumber, ShardId, Timestamp};

use super::{CustomerStats, DayTotals, ProductStats};

/// Counts of a step that are not yet added to the counters: a delta of one group of counters.
///
/// It is written once, in the transaction that moves the shard's checkpoint, and deleted in the transaction that adds it
/// to the counters. So counters and parked counts together are always the sum of the records up to the checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedCounts {
    /// The group of the counters. Every counter belongs to one group.
    pub group: u8,
    /// The list, of those over which the group's parked counts are spread.
    pub list: u8,
    pub parked_at: Timestamp,
    pub shard_id: ShardId,
    /// The shard's mark after the step. A shard has one step that ends there, so the key is unique.
    pub mark: SequenceNumber,
    /// The [`LAYOUT`](Self::LAYOUT) of the release that wrote the item.
    pub layout: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub customers: Vec<CustomerStats>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<ProductStats>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<DayTotals>,
}

impl ParkedCounts {
    /// The layout that this release writes. Increment it with each new counter: an item of a later layout may have
    /// counters that this release would lose, so this release leaves the item alone.
    pub const LAYOUT: u8 = 1;
    /// The number of groups of counters. Each is folded by one consumer at a time.
    pub const GROUPS: u8 = 4;
    /// The number of lists of a group, so that no partition is hot.
    pub const LISTS: u8 = 4;

    /// Whether this release knows all counters of the item.
    pub fn is_known(&self) -> bool {
        self.layout <= Self::LAYOUT
    }
}

/// The right to fold the parked counts of a group.
///
/// It only keeps several consumers from doing the same work. If two hold it, one of their transactions fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldLease {
    pub group: u8,
    /// A random id of the work for which the lease was taken.
    pub holder: HolderId,
    /// The time of expiry, in seconds since 1970. A lease that is not released can be taken after it.
    pub expires_at: i64,
}
