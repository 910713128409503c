//! Counts that are not yet added to the counters, and the leases to add them.

use crate::entity::{FoldLease, ParkedCounts};
use crate::value::{SequenceNumber, ShardId, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const PARKED: Place<(u8, u8), (Timestamp, ShardId, SequenceNumber)> =
    Place::table(Template::new("parked#{group}#{list}"), Template::new("{parkedAt}#{shardId}#{mark}"));
const LEASE: Template<u8> = Template::new("fold#{group}");
const LEASES: Place<u8, u8> = Place::table(LEASE, LEASE);

/// The parked counts of one list of a group, oldest first.
pub const COUNTS_PARKED: Pattern<(u8, u8), ParkedCounts> = PARKED.list(27, "the parked counts of a group of counters");

impl Stored for ParkedCounts {
    const PLACES: &'static [PlaceText] = &[PARKED.text()];

    fn key(&self) -> Key {
        PARKED.key((&self.group, &self.list), (&self.parked_at, &self.shard_id, &self.mark))
    }
}

impl Stored for FoldLease {
    const PLACES: &'static [PlaceText] = &[LEASES.text()];

    fn key(&self) -> Key {
        Self::key_of(self.group)
    }
}

impl FoldLease {
    /// The key of a group's lease.
    pub fn key_of(group: u8) -> Key {
        LEASES.key(&group, &group)
    }
}
