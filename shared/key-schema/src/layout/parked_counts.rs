//! Counts that are not yet added to the counters, and the leases to add them.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 27 [`CountsParked`] | table | `parked#{group}#{list}` | `{parkedAt}#{shardId}#{mark}` |

use crate::entity::{Entity as _, FoldLease, ParkedCounts};
use crate::value::{SequenceNumber, ShardId, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

const PARKED: Place<(u8, u8), (Timestamp, ShardId, SequenceNumber)> =
    Place::table(Template::new("parked#{group}#{list}"), Template::new("{parkedAt}#{shardId}#{mark}"));
const LEASE: Template<(u8,)> = Template::new("fold#{group}");
const LEASES: Place<(u8,), (u8,)> = Place::table(LEASE, LEASE);

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
        LEASES.key((&group,), (&group,))
    }
}

/// The parked counts of one list of a group, oldest first.
pub struct CountsParked {
    pub group: u8,
    pub list: u8,
}

impl CountsParked {
    /// The patterns of all lists of a group.
    pub fn in_lists(group: u8) -> Vec<Self> {
        (0..ParkedCounts::LISTS).map(|list| Self { group, list }).collect()
    }
}

impl AccessPattern for CountsParked {
    type Item = ParkedCounts;

    const DECLARED: Declaration = Declaration {
        number: 27,
        question: "the parked counts of a group of counters",
        place: PARKED.text(),
        entities: &[ParkedCounts::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        PARKED.partition.fill((&self.group, &self.list))
    }

    fn range(&self) -> SortRange {
        PARKED.all()
    }
}
