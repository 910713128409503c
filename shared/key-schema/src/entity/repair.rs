//! Repairs: items that may differ between the two tables of a migration.

use serde::{Deserialize, Serialize};

use crate::layout::{Index, Key};
use crate::value::{RepairId, Timestamp};

/// Items that were written in the leading table alone, and have to be copied to the other one.
///
/// A repair is in the table that led, and is written with the items or before them. It is carried out from that table,
/// even if the other one leads by then. A repair of items that do not differ is harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Repair {
    /// A random id.
    pub repair_id: RepairId,
    /// The shard in the list of repairs.
    pub shard: u8,
    /// The time of the write.
    pub since: Timestamp,
    pub keys: Vec<ItemKey>,
}

/// The canonical key of an item in the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemKey {
    pub partition: String,
    pub sort: String,
}

impl Repair {
    /// The number of partitions over which the repairs are spread.
    pub const SHARDS: u8 = 8;
}

impl From<Key> for ItemKey {
    fn from(key: Key) -> Self {
        Self { partition: key.partition, sort: key.sort }
    }
}

impl From<ItemKey> for Key {
    fn from(key: ItemKey) -> Self {
        Self { index: Index::Table, partition: key.partition, sort: key.sort }
    }
}
