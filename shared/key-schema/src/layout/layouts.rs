//! The layouts: different spellings of the same keys, each for a table of its own.
//!
//! Entities and access patterns spell *canonical* keys, those of [`Layout::V1`], and do not know which table they reach.
//! Whoever sends a key to a table respells it in the table's layout, and whoever hands out a position in a list respells
//! it back. So cursors and stored references survive a migration from one layout to another.
//!
//! A further layout is a module like [`v2`](super::v2) and a variant of [`Layout`].

use std::fmt;
use std::str::FromStr;

use super::{Index, Key, PlaceText, SortRange, v2};
use crate::value::Invalid;

/// The spelling of all keys in one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Short keys: the canonical ones.
    #[default]
    V1,
    /// Long keys that say what they are.
    V2,
}

/// The spelling of the item collections whose partition keys begin alike.
pub(super) struct Collections {
    pub(super) index: Index,
    pub(super) partition: Respelled,
    /// The sort keys of each kind of item. None of their canonical prefixes is a prefix of another one.
    pub(super) sorts: &'static [Sort],
}

/// The beginning of a key, in the canonical spelling and in that of the layout. What follows is the same in both.
pub(super) struct Respelled {
    pub(super) canonical: &'static str,
    pub(super) stored: &'static str,
}

/// The sort keys of one kind of item.
pub(super) enum Sort {
    /// The canonical sort key is the partition key. The layout has this word.
    Own(&'static str),
    /// The sort keys with this beginning.
    With(Respelled),
}

/// A place as text, in any layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpelledPlace {
    /// The table or the index.
    pub index: Index,
    /// The partition key's template.
    pub partition: String,
    /// The sort key's template; empty for all sort keys of a partition.
    pub sort: String,
}

impl Layout {
    /// Every layout, in the order of their invention.
    pub const ALL: &'static [Self] = &[Self::V1, Self::V2];

    /// The name, as settings have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
        }
    }

    /// The key of an item of this layout, from the canonical key.
    pub fn key(self, key: Key) -> Key {
        match self.of_canonical(key.index, &key.partition) {
            Some(collections) => Key {
                index: key.index,
                sort: collections.stored_sort(&key.partition, key.sort),
                partition: collections.partition.stored(&key.partition),
            },
            None => key,
        }
    }

    /// The canonical key, from a key of this layout. `None` if no entity has such a key.
    pub fn canonical(self, key: Key) -> Option<Key> {
        let Some(spelled) = self.collections() else { return Some(key) };
        let mut collections = spelled.iter().filter(|collections| collections.index == key.index);
        let found = collections.find(|collections| key.partition.starts_with(collections.partition.stored))?;
        let partition = found.partition.canonical(&key.partition);
        let sort = found.canonical_sort(&partition, &key.sort)?;
        Some(Key { index: key.index, partition, sort })
    }

    /// The partition key of this layout, from the canonical one.
    pub fn partition(self, index: Index, partition: String) -> String {
        match self.of_canonical(index, &partition) {
            Some(collections) => collections.partition.stored(&partition),
            None => partition,
        }
    }

    /// The sort keys to read in this layout, from those of a canonical partition.
    pub fn range(self, index: Index, partition: &str, range: SortRange) -> SortRange {
        let Some(collections) = self.of_canonical(index, partition) else { return range };
        let stored = |sort: String| collections.stored_sort(partition, sort);
        match range {
            SortRange::Whole => SortRange::Whole,
            SortRange::Exactly(key) => SortRange::Exactly(stored(key)),
            SortRange::BeginsWith(prefix) => SortRange::BeginsWith(stored(prefix)),
            SortRange::Between { low, high } => SortRange::Between { low: stored(low), high: stored(high) },
        }
    }

    /// The canonical sort key at which a read of this canonical partition stopped.
    pub fn position(self, index: Index, partition: &str, stored: String) -> String {
        let collections = self.of_canonical(index, partition);
        collections.and_then(|collections| collections.canonical_sort(partition, &stored)).unwrap_or(stored)
    }

    /// A canonical place in this layout.
    pub fn place(self, place: PlaceText) -> SpelledPlace {
        let sort = match self.of_canonical(place.index, place.partition) {
            Some(collections) if !place.sort.is_empty() => {
                collections.stored_sort(place.partition, place.sort.to_owned())
            }
            _ => place.sort.to_owned(),
        };
        SpelledPlace { index: place.index, partition: self.partition(place.index, place.partition.to_owned()), sort }
    }

    /// The spelling of all collections; `None` for the canonical layout.
    pub(super) const fn collections(self) -> Option<&'static [Collections]> {
        match self {
            Self::V1 => None,
            Self::V2 => Some(v2::COLLECTIONS),
        }
    }

    fn of_canonical(self, index: Index, partition: &str) -> Option<&'static Collections> {
        let mut collections = self.collections()?.iter().filter(|collections| collections.index == index);
        collections.find(|collections| partition.starts_with(collections.partition.canonical))
    }
}

impl Collections {
    /// A sort key, the prefix of one, or an end of a range, in the layout.
    fn stored_sort(&self, partition: &str, canonical: String) -> String {
        for sort in self.sorts {
            match sort {
                Sort::Own(word) => {
                    if let Some(rest) = canonical.strip_prefix(partition) {
                        return format!("{word}{rest}");
                    }
                }
                Sort::With(respelled) => {
                    if canonical.starts_with(respelled.canonical) {
                        return respelled.stored(&canonical);
                    }
                }
            }
        }
        // An end of a range over all kinds of items, before or after all keys.
        canonical
    }

    fn canonical_sort(&self, partition: &str, stored: &str) -> Option<String> {
        self.sorts.iter().find_map(|sort| match sort {
            Sort::Own(word) => stored.strip_prefix(word).map(|rest| format!("{partition}{rest}")),
            Sort::With(respelled) => stored.starts_with(respelled.stored).then(|| respelled.canonical(stored)),
        })
    }
}

impl Respelled {
    fn stored(&self, canonical: &str) -> String {
        format!("{}{}", self.stored, &canonical[self.canonical.len()..])
    }

    fn canonical(&self, stored: &str) -> String {
        format!("{}{}", self.canonical, &stored[self.stored.len()..])
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layout {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|layout| layout.name() == name);
        known.copied().ok_or_else(|| Invalid::new("a layout is v1 or v2"))
    }
}
