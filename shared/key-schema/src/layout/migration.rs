//! The items of a migration from one table to another: the migration, its repairs, and the progress of copying. None of
//! them is ever copied.

use crate::entity::{CopyProgress, Entity as _, Migration, Repair};
use crate::value::{RepairId, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const MIGRATION: Template<()> = Template::new("migration");
const ONLY: Place<(), ()> = Place::table(MIGRATION, MIGRATION);
const REPAIRS: Place<u8, (Timestamp, RepairId)> =
    Place::table(Template::new("repair#{shard}"), Template::new("{since}#{repairId}"));
const SEGMENT: Template<u8> = Template::new("copy#{segment}");
const PROGRESS: Place<u8, u8> = Place::table(SEGMENT, SEGMENT);

/// The repairs of one shard, oldest first.
pub const REPAIRS_DUE: Pattern<u8, Repair> = REPAIRS.list(25, "the repairs of a migration that are due");

/// The entities that belong to a migration, and not to the shop.
pub const OF_A_MIGRATION: &[&str] = &[Migration::TYPE, Repair::TYPE, CopyProgress::TYPE];

impl Stored for Migration {
    const PLACES: &'static [PlaceText] = &[ONLY.text()];

    fn key(&self) -> Key {
        Self::only_key()
    }
}

impl Migration {
    /// The key of the only item.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}

impl Stored for Repair {
    const PLACES: &'static [PlaceText] = &[REPAIRS.text()];

    fn key(&self) -> Key {
        REPAIRS.key(&self.shard, (&self.since, &self.repair_id))
    }
}

impl Stored for CopyProgress {
    const PLACES: &'static [PlaceText] = &[PROGRESS.text()];

    fn key(&self) -> Key {
        Self::key_of(self.segment)
    }
}

impl CopyProgress {
    /// The key of a segment's progress.
    pub fn key_of(segment: u8) -> Key {
        PROGRESS.key(&segment, &segment)
    }
}
