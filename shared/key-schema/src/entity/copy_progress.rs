//! The progress of copying one table to another, and of comparing the two.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{ItemKey, Side};
use crate::value::Timestamp;

/// The work of a run over both tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CopyTask {
    /// Makes each pair of items equal.
    #[default]
    Copy,
    /// Compares each pair of items, and changes nothing.
    Compare,
}

/// The name that is stored.
impl fmt::Display for CopyTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The progress of one segment of a run. It is in the table from which the shop migrates, beside the migration, and is
/// never copied.
///
/// A run scans the leading table first, and then the other one, where it finds the items that the leading table lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyProgress {
    /// The segment's number, counted from 0.
    pub segment: u8,
    /// The number of segments.
    pub segments: u8,
    /// The run's number. A worker of an earlier run writes nothing more.
    pub run: u64,
    /// The work of the run.
    pub task: CopyTask,
    /// The version of the migration at the start of the run.
    pub migration_version: u64,
    /// The table that leads during the run.
    pub leader: Side,
    /// The table that is being scanned.
    pub scanned: Side,
    /// The key at which the scan stopped, as the scanned table spells it. `None` before the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<ItemKey>,
    /// The number of pages that are done. Of two workers with the same page, one saves its progress.
    pub pages: u64,
    /// Whether both scans have ended.
    pub is_done: bool,
    /// The number of items that were read by the scans.
    pub items: u64,
    /// The number of items that were written to the other table or deleted there. The others were equal in both tables.
    pub copied: u64,
    /// The number of pairs that differ although no repair is due for them.
    pub differences: u64,
    /// The canonical keys of the first such pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<ItemKey>,
    /// The checksums of the items of each kind. Only a comparison has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sums: BTreeMap<String, PairOfSums>,
    /// The time at which the run started.
    pub started_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

impl CopyProgress {
    /// The most segments of a run. One transaction changes the progress of all of them.
    pub const MOST_SEGMENTS: u8 = 32;

    /// The most keys in [`differing`](Self::differing).
    pub const MOST_DIFFERING: usize = 20;
}

/// The checksums of the items of one kind in both tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairOfSums {
    /// The items of the table from which the shop migrates.
    pub first: Checksum,
    /// The items of the table to which the shop migrates.
    pub next: Checksum,
}

/// The number of some items, and the sum of their digests. It does not depend on the order of the items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checksum {
    /// The number of items.
    pub items: u64,
    /// The sum of the digests, modulo 2^128. Stored as 32 hexadecimal digits.
    #[serde(serialize_with = "to_hex", deserialize_with = "of_hex")]
    pub sum: u128,
}

impl AddAssign for Checksum {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl AddAssign for PairOfSums {
    fn add_assign(&mut self, other: Self) {
        self.first += other.first;
        self.next += other.next;
    }
}

fn to_hex<S: Serializer>(sum: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{sum:032x}"))
}

fn of_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    let text = String::deserialize(deserializer)?;
    u128::from_str_radix(&text, 16).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use serde_dynamo::{AttributeValue, Item};

    use super::*;

    #[test]
    fn a_checksum_is_stored_as_digits_that_no_number_of_dynamodb_could_hold() {
        let sums = [Checksum::default(), Checksum { items: 3, sum: u128::MAX }];
        for sum in sums {
            let stored: Item = serde_dynamo::to_item(sum).expect("an item");
            assert!(matches!(stored.get("sum"), Some(AttributeValue::S(digits)) if digits.len() == 32));
            assert_eq!(serde_dynamo::from_item::<_, Checksum>(stored).expect("a checksum"), sum);
        }
    }
}
