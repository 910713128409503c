//! A table whose transactions lock their items.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use capacity::{rules, size};
use counting::{Counts, Fold, Step};
use key_schema::entity::ParkedCounts;
use key_schema::layout::{Consistency, Key, Stored};
use key_schema::value::{Day, ShardId, Timestamp};
use serde_dynamo::Item;

/// The seconds for which a transaction locks an item, from prepare to commit. AWS documents none; see the page.
pub(super) const HELD: f64 = 0.010;

/// The most parked items that are read of each list at once, as in `count-orders`.
const PAGE_SIZE: usize = 100;

/// The seconds after which a lease can be taken from its holder, as in `count-orders`.
const LEASE: f64 = 20.0;

/// The table, and what was done in it.
pub(super) struct Table {
    day: Day,
    /// The times until which items are locked.
    locks: HashMap<String, f64>,
    /// The parked items of each group by their sort keys, which begin with a time.
    parked: BTreeMap<u8, BTreeMap<String, Parked>>,
    /// The times until which the groups' leases are held.
    leases: BTreeMap<u8, f64>,
    pub(super) done: Done,
}

struct Parked {
    visible_at: f64,
    item: ParkedCounts,
    bytes: usize,
    units: f64,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// The orders that are counted in the day's totals.
    pub(super) counted: i64,
    pub(super) write_units: f64,
    pub(super) read_units: f64,
    /// Cancelled transactions.
    pub(super) conflicts: u64,
    /// The write units of the day's totals.
    pub(super) of_day: f64,
    /// The write units of each list of parked counts.
    pub(super) of_lists: BTreeMap<(u8, u8), f64>,
}

impl Done {
    /// What was done since then.
    pub(super) fn since(&self, before: &Self) -> Self {
        let list =
            |(list, units): (&(u8, u8), &f64)| (*list, units - before.of_lists.get(list).copied().unwrap_or_default());
        Self {
            counted: self.counted - before.counted,
            write_units: self.write_units - before.write_units,
            read_units: self.read_units - before.read_units,
            conflicts: self.conflicts - before.conflicts,
            of_day: self.of_day - before.of_day,
            of_lists: self.of_lists.iter().map(list).collect(),
        }
    }
}

impl Table {
    pub(super) fn new(day: Day) -> Self {
        let (locks, parked, leases) = Default::default();
        Self { day, locks, parked, leases, done: Done::default() }
    }

    /// Tries a step of a shard. Returns whether it is committed.
    pub(super) fn count(&mut self, shard: &ShardId, step: &Step, now: f64) -> bool {
        let mut items = vec![format!("shard {shard}")];
        let mut units = transactional(0);
        let parked: Vec<_> = parked_by(shard, step, now).into_iter().map(Parked::new).collect();
        if step.parks {
            units += parked.iter().map(|parked| parked.units).sum::<f64>();
        } else {
            items.extend(step.counts.aggregates().map(ToString::to_string));
            units += self.counters(&step.counts);
        }
        self.done.write_units += units;
        if !self.locks(items, now) {
            return false;
        }
        if !step.parks {
            self.done.counted += step.counts.day(self.day).orders;
        }
        for parked in parked {
            *self.done.of_lists.entry((parked.item.group, parked.item.list)).or_default() += parked.units;
            let group = self.parked.entry(parked.item.group).or_default();
            group.insert(parked.item.key().sort, Parked { visible_at: now + HELD, ..parked });
        }
        true
    }

    /// Tries a fold. `None`: it met another transaction. `Some(false)`: a part is folded already.
    pub(super) fn fold(&mut self, group: u8, fold: &Fold, now: f64) -> Option<bool> {
        let all = self.parked.entry(group).or_default();
        let found: Vec<_> = fold.parked.iter().filter_map(|key| all.get(&key.sort)).collect();
        for Parked { item, units, .. } in &found {
            self.done.write_units += units;
            *self.done.of_lists.entry((group, item.list)).or_default() += units;
        }
        let is_whole = found.len() == fold.parked.len();
        self.done.write_units += self.counters(&fold.counts);
        if !self.locks(fold.counts.aggregates().map(ToString::to_string).collect(), now) {
            return None;
        }
        if !is_whole {
            return Some(false);
        }
        let all = self.parked.entry(group).or_default();
        fold.parked.iter().for_each(|key| _ = all.remove(&key.sort));
        self.done.counted += fold.counts.day(self.day).orders;
        Some(true)
    }

    /// Those of these items that are parked, and whether the group's lease can be taken.
    pub(super) fn look(&mut self, group: u8, keys: &[Key], now: f64) -> (HashSet<Key>, bool) {
        let all = self.parked.entry(group).or_default();
        let found = keys.iter().filter_map(|key| all.get(&key.sort).map(|parked| (key, parked)));
        let found: Vec<_> = found.collect();
        // The lease, and each item that is there.
        self.done.read_units += 1.0;
        for (_, parked) in &found {
            self.done.read_units += rules::read_units(parked.bytes, Consistency::Strong);
        }
        let existing = found.into_iter().map(|(key, _)| key.clone()).collect();
        (existing, self.is_free(group, now))
    }

    /// The oldest parked items of each list.
    pub(super) fn list(&mut self, group: u8, now: f64) -> Vec<ParkedCounts> {
        let mut taken: BTreeMap<u8, (usize, usize)> = (0..ParkedCounts::LISTS).map(|list| (list, (0, 0))).collect();
        let mut listed = Vec::new();
        for parked in self.parked.entry(group).or_default().values().filter(|parked| parked.visible_at <= now) {
            let (items, size) = taken.entry(parked.item.list).or_default();
            if *items < PAGE_SIZE {
                *items += 1;
                *size += parked.bytes;
                listed.push(parked.item.clone());
            }
        }
        self.done.read_units +=
            taken.values().map(|(_, size)| rules::read_units(*size, Consistency::Strong)).sum::<f64>();
        listed
    }

    /// Takes the group's lease, unless another consumer has it.
    pub(super) fn take(&mut self, group: u8, now: f64) -> bool {
        let is_free = self.is_free(group, now);
        self.done.write_units += 1.0;
        if is_free {
            self.leases.insert(group, now + LEASE);
        }
        is_free
    }

    /// Gives the group's lease back.
    pub(super) fn release(&mut self, group: u8) {
        self.done.write_units += 1.0;
        self.leases.remove(&group);
    }

    fn is_free(&self, group: u8, now: f64) -> bool {
        self.leases.get(&group).is_none_or(|until| *until < now)
    }

    /// The write units of adding to counters.
    fn counters(&mut self, counts: &Counts) -> f64 {
        if counts.day(self.day).orders != 0 {
            self.done.of_day += transactional(0);
        }
        counts.aggregates().map(|_| transactional(0)).sum()
    }

    /// Locks all of these items for as long as a transaction lasts. Returns `false` if one of them is locked. The others
    /// are then locked all the same.
    fn locks(&mut self, items: Vec<String>, now: f64) -> bool {
        let mut is_free = true;
        for item in items {
            let until = self.locks.entry(item).or_default();
            if *until > now {
                is_free = false;
            } else {
                *until = now + HELD;
            }
        }
        self.done.conflicts += u64::from(!is_free);
        is_free
    }
}

impl Parked {
    fn new(item: ParkedCounts) -> Self {
        let bytes = bytes(&item);
        Self { visible_at: 0.0, bytes, units: transactional(bytes), item }
    }
}

/// The write units of an item of this size in a transaction.
fn transactional(bytes: usize) -> f64 {
    rules::TRANSACTION * rules::write_units(bytes)
}

fn bytes<T: Stored>(entity: &T) -> usize {
    let key = entity.key();
    let item: Item = serde_dynamo::to_item(entity).unwrap_or_default();
    size::of_item(&item) + "PKSKEntityType".len() + T::TYPE.len() + key.partition.len() + key.sort.len()
}

/// The items that a step parks at this time.
pub(super) fn parked_by(shard: &ShardId, step: &Step, now: f64) -> Vec<ParkedCounts> {
    let parked_at =
        Timestamp::from_millisecond(Duration::from_secs_f64(now).as_millis().try_into().unwrap_or_default());
    step.parked(shard, parked_at.unwrap_or_else(Timestamp::now))
}
