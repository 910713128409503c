//! The demand of each order on the table, by key.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::Result;
use key_schema::layout::{Index, PlaceText};
use sha2::{Digest as _, Sha256};

use super::design::{Keys, Watched};
use super::touch::Touch;
use super::traffic::Sample;
use crate::figures::as_float;

/// The table and its indexes, each with partitions of its own.
pub(super) const INDEXES: [Index; 3] = [Index::Table, Index::Gsi1, Index::Gsi2];

/// The number of slices of an item collection whose sort keys are in random order.
const SLICES: u32 = 64;

/// Sort keys of one kind under one partition key: the smallest unit with heat of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The hash of the partition key, from 0 to 1.
    pub(super) hash: f64,
    /// The key's place in the schema.
    pub(super) place: PlaceText,
    pub(super) heat: Heat,
}

/// Units per order of the whole traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Heat {
    pub(super) written: f64,
    pub(super) read: f64,
}

impl Heat {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { written: self.written + other.written, read: self.read + other.read }
    }

    pub(super) fn less(self, other: Self) -> Self {
        self.plus(other.times(-1.0))
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self { written: self.written * factor, read: self.read * factor }
    }
}

/// The demand on one index.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    /// The runs, sorted by hash and then by kind of sort key.
    pub(super) runs: Vec<Run>,
    /// The heat of keys that occur only once, such as orders, which the hash distributes evenly.
    pub(super) dust: Heat,
}

/// The demand on the table and its indexes.
#[derive(Clone, Debug, Default)]
pub(super) struct Demand(pub(super) BTreeMap<&'static str, Load>);

/// The movement of a run's sort keys over time.
enum Motion {
    /// The same item, or rising sort keys: all writes are in one part after any split.
    AtOnePoint,
    /// Random positions in the collection: a split halves the heat.
    Anywhere,
}

struct Seen {
    run: Run,
    last: String,
    motion: Motion,
    /// The last order under this key, and the number of orders before it.
    order: usize,
    others: usize,
}

impl Demand {
    /// The demand of these orders with these keys, on the watched keys or on all.
    pub(super) fn of(sample: &Sample, keys: Keys, watched: Option<Watched>) -> Result<Self> {
        let mut seen: BTreeMap<(&'static str, String, &'static str), Seen> = BTreeMap::new();
        let orders = sample.touches(keys, watched)?;
        let share = 1.0 / as_float(orders.len());
        for (order, touches) in orders.into_iter().enumerate() {
            for touch in touches {
                note(&mut seen, touch, order, share);
            }
        }
        let mut demand = Self(INDEXES.map(|index| (name(index), Load::default())).into());
        for ((index, ..), seen) in seen {
            let load = demand.0.entry(index).or_default();
            match seen {
                Seen { run, others: 0, .. } => load.dust = load.dust.plus(run.heat),
                Seen { run, motion: Motion::AtOnePoint, .. } => load.runs.push(run),
                Seen { run, motion: Motion::Anywhere, .. } => {
                    let slice = Run { heat: run.heat.times(1.0 / f64::from(SLICES)), ..run };
                    load.runs.extend((0..SLICES).map(|_| slice));
                }
            }
        }
        for load in demand.0.values_mut() {
            load.runs.sort_by(|a, b| a.hash.total_cmp(&b.hash).then_with(|| a.place.sort.cmp(b.place.sort)));
        }
        Ok(demand)
    }

    /// The demand of a part of the runs.
    pub(super) fn only(&self, is_wanted: impl Fn(&Run) -> bool) -> Self {
        let mut demand = self.clone();
        demand.0.values_mut().for_each(|load| load.runs.retain(&is_wanted));
        demand
    }
}

/// The name of an index or of the table.
pub(super) fn name(index: Index) -> &'static str {
    index.name().unwrap_or("table")
}

fn note(seen: &mut BTreeMap<(&'static str, String, &'static str), Seen>, touch: Touch, order: usize, share: f64) {
    let Touch { key, place, written, read } = touch;
    let heat = Heat { written, read }.times(share);
    match seen.entry((name(key.index), key.partition, place.sort)) {
        Entry::Occupied(mut entry) => {
            let seen = entry.get_mut();
            seen.run.heat = seen.run.heat.plus(heat);
            if key.sort < seen.last {
                seen.motion = Motion::Anywhere;
            }
            seen.others += usize::from(order != seen.order);
            seen.order = order;
            seen.last = key.sort;
        }
        Entry::Vacant(entry) => {
            let run = Run { hash: hash(&entry.key().1), place, heat };
            entry.insert(Seen { run, last: key.sort, motion: Motion::AtOnePoint, order, others: 0 });
        }
    }
}

/// A hash of a partition key. DynamoDB's own hash is unknown, but any even hash gives the same distribution.
fn hash(partition: &str) -> f64 {
    let digest = Sha256::digest(partition.as_bytes());
    let number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    f64::from(number) / (f64::from(u32::MAX) + 1.0)
}
