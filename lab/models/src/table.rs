//! A table in memory, with DynamoDB's documented semantics, as a part of a model's state.
//!
//! - Transactions are atomic. Transactions and writes of single items are serializable.
//! - A read of one item shows a moment between its request and its answer. A read of several items (a Query, a batch)
//!   does so for each item separately.
//! - TransactGetItems is a snapshot read.
//!
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use key_schema::entity::Side;
use key_schema::layout::{Index, Key, Layout};
use table::{AttributeValue, Cause, Item, Rendered, Write, WriteKind};

use crate::expression;

/// A value with its digest: cheap to copy, compare and hash.
pub struct Digested<T> {
    value: Arc<T>,
    digest: u64,
}

impl<T: fmt::Debug> Digested<T> {
    /// Computes the digest from the value's `Debug` output, which must be complete and deterministic.
    pub fn new(value: T) -> Self {
        let mut hasher = Hashing(DefaultHasher::new());
        // Hashing text cannot fail.
        _ = write!(hasher, "{value:?}");
        Self { value: Arc::new(value), digest: hasher.0.finish() }
    }
}

impl<T> Digested<T> {
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

struct Hashing(DefaultHasher);

impl fmt::Write for Hashing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl<T> Clone for Digested<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), digest: self.digest }
    }
}

impl<T> Deref for Digested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> PartialEq for Digested<T> {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl<T> Eq for Digested<T> {}

impl<T> Hash for Digested<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for Digested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// An item, whose `Debug` is sorted.
pub struct Attributes(pub Item);

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_map(&self.0, f)
    }
}

fn write_map(map: &Item, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sorted: BTreeMap<_, _> = map.iter().map(|(name, value)| (name, Sorted(value))).collect();
    f.debug_map().entries(sorted).finish()
}

struct Sorted<'a>(&'a AttributeValue);

impl fmt::Debug for Sorted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AttributeValue::S(text) => text.fmt(f),
            AttributeValue::N(number) => f.write_str(number),
            AttributeValue::M(map) => write_map(map, f),
            AttributeValue::L(list) => f.debug_list().entries(list.iter().map(Sorted)).finish(),
            other => other.fmt(f),
        }
    }
}

/// An item as it is stored.
pub type Stored = Digested<Attributes>;

/// The key of an item: partition and sort key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub Arc<str>, pub Arc<str>);

impl From<Key> for Place {
    fn from(key: Key) -> Self {
        Self(key.partition.into(), key.sort.into())
    }
}

/// The writes of one transaction. Their `Debug` output is sorted.
pub struct Transaction(Vec<(Place, Rendered)>);

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writes = self.0.iter().map(|(place, write)| {
            let Rendered { kind, item, update, condition, names, values } = write;
            let names: BTreeMap<_, _> = names.iter().collect();
            (place, format!("{kind:?} {update:?} if {condition:?} {names:?}"), [item, values].map(part_of))
        });
        f.debug_list().entries(writes).finish()
    }
}

fn part_of(part: &Item) -> String {
    struct Part<'a>(&'a Item);
    impl fmt::Debug for Part<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_map(self.0, f)
        }
    }
    format!("{:?}", Part(part))
}

impl Transaction {
    /// A transaction of these writes.
    ///
    /// # Panics
    /// If two writes are to the same item, which DynamoDB refuses.
    pub fn new(writes: &[Write]) -> Digested<Self> {
        let writes = writes.iter().map(|write| {
            let rendered = write.rendered();
            (place_of(&rendered.item), rendered)
        });
        let writes: Vec<_> = writes.collect();
        let places: BTreeSet<_> = writes.iter().map(|(place, _)| place).collect();
        assert_eq!(places.len(), writes.len(), "a transaction writes one item twice: {places:?}");
        Digested::new(Self(writes))
    }

    /// A transaction over two tables: the next one has the keys of another layout, so both are in one [`Table`] here.
    pub fn over(writes: Vec<(Side, Write)>) -> Digested<Self> {
        let writes = writes.into_iter().map(|(side, write)| {
            let mut rendered = write.rendered();
            if side == Side::Next {
                let Place(partition, sort) = place_of(&rendered.item);
                let Place(partition, sort) = in_table(side, &Place(partition, sort));
                let (partition_name, sort_name) = Index::Table.attributes();
                rendered.item.insert(partition_name.to_owned(), AttributeValue::S(partition.to_string()));
                rendered.item.insert(sort_name.to_owned(), AttributeValue::S(sort.to_string()));
            }
            (place_of(&rendered.item), rendered)
        });
        Digested::new(Self(writes.collect()))
    }

    /// The transaction without the conditions of some writes, to plant a known bug.
    pub fn without_condition(&self, is_meant: impl Fn(&Place, WriteKind) -> bool) -> Digested<Self> {
        let writes = self.0.iter().map(|(place, write)| {
            let mut write = write.clone();
            if is_meant(place, write.kind) {
                write.condition = None;
            }
            (place.clone(), write)
        });
        Digested::new(Self(writes.collect()))
    }

    /// Splits the writes by a predicate.
    pub fn split(&self, is_meant: impl Fn(&Place) -> bool) -> (Self, Self) {
        let (some, others) = self.0.iter().cloned().partition(|(place, _)| is_meant(place));
        (Self(some), Self(others))
    }

    /// Whether a write satisfies the predicate.
    pub fn has(&self, is_meant: impl Fn(&Place, WriteKind) -> bool) -> bool {
        self.0.iter().any(|(place, write)| is_meant(place, write.kind))
    }
}

/// The key of an item in one of two tables, from its canonical key.
pub fn in_table(side: Side, canonical: &Place) -> Place {
    match side {
        Side::First => canonical.clone(),
        Side::Next => {
            let (partition, sort) = (canonical.0.to_string(), canonical.1.to_string());
            Layout::V2.key(Key { index: Index::Table, partition, sort }).into()
        }
    }
}

fn place_of(item: &Item) -> Place {
    let (partition, sort) = Index::Table.attributes();
    let text = |name: &str| match item.get(name) {
        Some(AttributeValue::S(text)) => text.as_str().into(),
        other => panic!("{name} is {other:?}"),
    };
    Place(text(partition), text(sort))
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Table(BTreeMap<Place, Stored>);

impl Table {
    /// The item with a key.
    pub fn get(&self, place: &Place) -> Option<&Stored> {
        self.0.get(place)
    }

    /// Adds an item to the initial table.
    pub fn insert(&mut self, place: Place, item: Item) {
        self.0.insert(place, Digested::new(Attributes(item)));
    }

    pub fn items(&self) -> impl Iterator<Item = &Stored> {
        self.0.values()
    }

    /// Applies all writes or none. Returns the written keys.
    ///
    /// # Errors
    /// A condition does not hold: the cancellation reason for each write, as DynamoDB reports it.
    pub fn commit(&mut self, transaction: &Transaction) -> Result<Vec<Place>, Vec<Cause>> {
        let causes = transaction.0.iter().map(|(place, write)| {
            let item = self.0.get(place).map(|stored| &stored.0);
            if expression::holds(write, item) { Cause::None } else { Cause::Condition(item.cloned()) }
        });
        let causes: Vec<_> = causes.collect();
        if causes.iter().any(|cause| *cause != Cause::None) {
            return Err(causes);
        }
        let mut written = Vec::new();
        for (place, write) in &transaction.0 {
            let after = match write.kind {
                WriteKind::Put => Some(write.item.clone()),
                // An update of a missing item creates it.
                WriteKind::Update => {
                    let before = self.0.get(place).map_or_else(|| write.item.clone(), |stored| stored.0.clone());
                    Some(expression::updated(write, &before))
                }
                WriteKind::Delete => None,
                WriteKind::Check => continue,
            };
            match after {
                Some(item) => _ = self.0.insert(place.clone(), Digested::new(Attributes(item))),
                None => _ = self.0.remove(place),
            }
            written.push(place.clone());
        }
        Ok(written)
    }
}

/// A read in progress: for each item, all versions since it began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The partition of a Query, which may also return items written while it is in progress.
    partition: Option<Arc<str>>,
    items: BTreeMap<Place, Vec<Option<Stored>>>,
}

impl Seen {
    /// Begins a read of these keys.
    pub fn begin(table: &Table, places: impl IntoIterator<Item = Place>) -> Self {
        let items = places.into_iter().map(|place| (place.clone(), vec![table.get(&place).cloned()]));
        Self { partition: None, items: items.collect() }
    }

    pub fn begin_query(table: &Table, partition: Arc<str>) -> Self {
        let places = table.0.keys().filter(|place| place.0 == partition).cloned();
        Self { items: Self::begin(table, places).items, partition: Some(partition) }
    }

    /// Adds versions that were written meanwhile. `None` if these keys are not being read.
    #[must_use]
    pub fn with(&self, table: &Table, written: &[Place]) -> Option<Self> {
        let mut changed = None;
        for place in written.iter().filter(|place| self.reads(place)) {
            let now = table.get(place).cloned();
            let items = &mut changed.get_or_insert_with(|| self.clone()).items;
            let seen = items.entry(place.clone()).or_insert_with(|| vec![None]);
            if !seen.contains(&now) {
                seen.push(now);
            }
        }
        changed
    }

    fn reads(&self, place: &Place) -> bool {
        self.items.contains_key(place) || self.partition.as_ref() == Some(&place.0)
    }

    /// The number of possible answers.
    pub fn choices(&self) -> usize {
        self.items.values().map(Vec::len).product()
    }

    pub fn answer(&self, mut choice: usize) -> Vec<Stored> {
        let mut items = Vec::new();
        for seen in self.items.values() {
            items.extend(seen[choice % seen.len()].clone());
            choice /= seen.len();
        }
        items
    }
}
