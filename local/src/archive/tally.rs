//! Counts and checksums of items, by kind, and by parts small enough to find the items in which two sets differ.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use copying::sum;
use key_schema::entity::Checksum;
use key_schema::layout::{ENTITY_TYPE, EXPIRES_AT};
use key_schema::value::Timestamp;
use table::{AttributeValue, Item, WholeTable};

/// The checksums of the items of each kind, as `migrate compare` prints them.
pub type Sums = BTreeMap<String, Checksum>;

/// The number of parts. Two sets of items that differ in one item differ in one part.
const PARTS: usize = 1024;

/// Counts and checksums of items.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    rules: Rules,
    pub(super) sums: Sums,
    /// The number of items that may be gone by now, because they expire.
    pub(super) expiring: u64,
    parts: Vec<Checksum>,
}

/// How items are read.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Its layout spells the keys of the items.
    pub(super) table: WholeTable,
    /// Items that expire until then do not count: DynamoDB may delete them at any time.
    pub(super) until: Timestamp,
}

impl Rules {
    /// Whether DynamoDB may have deleted this item, or may delete it soon.
    fn is_expiring(&self, item: &Item) -> bool {
        match item.get(EXPIRES_AT) {
            Some(AttributeValue::N(second)) => second.parse().is_ok_and(|second: i64| second <= self.until.as_second()),
            _ => false,
        }
    }

    /// The item as it counts; `None` if it does not.
    fn counted(&self, item: Item) -> Option<Item> {
        (!self.is_expiring(&item)).then(|| self.table.canonical(item))
    }

    /// The key, the part and the checksum of an item that counts.
    pub(super) fn read(&self, item: Item) -> Option<(Place, usize, Checksum)> {
        let item = self.counted(item)?;
        let place = place(&item);
        Some((place.clone(), part(&place), sum(&item)))
    }
}

/// A canonical partition key and sort key.
pub(super) type Place = (String, String);

impl Tally {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, sums: Sums::new(), expiring: 0, parts: vec![Checksum::default(); PARTS] }
    }

    pub(super) fn add(&mut self, item: Item) {
        let Some(item) = self.rules.counted(item) else {
            self.expiring += 1;
            return;
        };
        let kind = text(&item, ENTITY_TYPE);
        let sum = sum(&item);
        *self.sums.entry(kind).or_default() += sum;
        self.parts[part(&place(&item))] += sum;
    }

    /// Adds the items of another tally by the same rules.
    pub(super) fn absorb(&mut self, other: Self) {
        self.expiring += other.expiring;
        for (kind, sum) in other.sums {
            *self.sums.entry(kind).or_default() += sum;
        }
        for (own, sum) in self.parts.iter_mut().zip(other.parts) {
            *own += sum;
        }
    }

    pub(super) fn items(&self) -> u64 {
        self.sums.values().map(|sum| sum.items).sum::<u64>() + self.expiring
    }

    /// The parts in which two tallies differ.
    pub(super) fn differing(&self, other: &Self) -> Vec<usize> {
        let pairs = self.parts.iter().zip(&other.parts).enumerate();
        pairs.filter(|(_, (own, other))| own != other).map(|(at, _)| at).collect()
    }
}

fn place(item: &Item) -> Place {
    (text(item, "PK"), text(item, "SK"))
}

fn part(place: &Place) -> usize {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    usize::try_from(hasher.finish() % PARTS as u64).unwrap_or_default()
}

fn text(item: &Item, attribute: &str) -> String {
    item.get(attribute).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
}
