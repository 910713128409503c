//! Access patterns: the questions that the table answers.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entity::Entity;

use super::template::{Given, KeyPart, Parameter, Parts, Spelling, Values};
use super::{Index, Key, Place, PlaceText, SortRange};

/// An entity with its keys.
pub trait Stored: Entity + Serialize + DeserializeOwned {
    /// The entity's places: in the table first, then in the indexes that have an entry of it.
    const PLACES: &'static [PlaceText];

    /// Other places in the indexes: while an item has a key in one of them, it has none in the place of [`Self::PLACES`] in
    /// the same index.
    const INSTEAD: &'static [PlaceText] = &[];

    /// The key of the item itself.
    fn key(&self) -> Key;

    /// The keys of the item's index entries.
    fn index_keys(&self) -> Vec<Key> {
        Vec::new()
    }

    /// All of its keys, that of the item itself first.
    fn keys(&self) -> Vec<Key> {
        std::iter::once(self.key()).chain(self.index_keys()).collect()
    }
}

/// The type of the items in an answer: an entity, or an enum of several.
pub trait Kinds {
    /// The kinds of the items.
    const KINDS: &'static [&'static str];
}

impl<One: Entity> Kinds for One {
    const KINDS: &'static [&'static str] = &[One::TYPE];
}

/// One question that a Query on the table or an index answers. Every Query is made from one.
///
/// `Parameters` is the type of the only parameter, or the tuple of their types: the parts of the partition key, and after
/// them perhaps the first part of the sort key, or a range of that. `Item` is the type of the items in the answer.
pub struct Pattern<Parameters, Item> {
    /// The pattern as data, from which documentation and tests are made.
    pub declared: Declaration,
    types: PhantomData<fn(Parameters) -> Item>,
}

impl<Parameters, Item> Clone for Pattern<Parameters, Item> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Parameters, Item> Copy for Pattern<Parameters, Item> {}

/// Parameters that choose sort keys in one partition of a place with these keys.
pub trait Choose<Partition, Sort> {}

impl<Partition, Sort> Choose<Partition, Sort> for Partition {}

impl<A: KeyPart, X: Parameter<Part = Sort::First>, Sort: Parts> Choose<A, Sort> for (A, X) {}

impl<A: KeyPart, B: KeyPart, X: Parameter<Part = Sort::First>, Sort: Parts> Choose<(A, B), Sort> for (A, B, X) {}

/// The patterns of a place. Reads of the table are strongly consistent, unless the pattern is
/// [`eventual`](Pattern::eventual). Those of an index never are.
impl<Partition: Parts, Sort: Parts> Place<Partition, Sort> {
    /// At most one item. If the sort key repeats the partition key, that is the item which the partition is named after.
    pub const fn one<P: Choose<Partition, Sort>, T: Kinds>(self, number: u8, question: &'static str) -> Pattern<P, T> {
        pattern(number, question, self.text(), Bound::One)
    }

    /// The items of this place in a partition, page by page.
    pub const fn list<P: Choose<Partition, Sort>, T: Kinds>(self, number: u8, question: &'static str) -> Pattern<P, T> {
        pattern(number, question, self.text(), Bound::Page)
    }

    /// All items of a partition, of this kind and of the others that are kept there.
    pub const fn collection<T: Kinds>(self, number: u8, question: &'static str, bound: Bound) -> Pattern<Partition, T> {
        pattern(number, question, PlaceText { sort: "", ..self.text() }, bound)
    }

    /// Items that are read by their keys, at most this number. It is no Query.
    pub const fn batch<T: Kinds>(self, number: u8, question: &'static str, most: u16) -> Declaration {
        pattern::<Partition, T>(number, question, self.text(), Bound::AtMost(most)).eventual().declared
    }
}

const fn pattern<P, T: Kinds>(number: u8, question: &'static str, place: PlaceText, bound: Bound) -> Pattern<P, T> {
    let consistency = match place.index {
        Index::Table => Consistency::Strong,
        Index::Gsi1 | Index::Gsi2 => Consistency::Eventual,
    };
    let (entities, direction) = (T::KINDS, Direction::Ascending);
    let declared = Declaration { number, question, place, entities, consistency, direction, bound };
    Pattern { declared, types: PhantomData }
}

impl<Parameters, Item> Pattern<Parameters, Item> {
    /// The same, read with eventual consistency.
    #[must_use]
    pub const fn eventual(mut self) -> Self {
        self.declared.consistency = Consistency::Eventual;
        self
    }

    /// The same from the highest sort key down.
    #[must_use]
    pub const fn descending(mut self) -> Self {
        self.declared.direction = Direction::Descending;
        self
    }

    /// The question with these parameters.
    ///
    /// `BETWEEN` includes both of its ends, but here both ends of a range are prefixes that no complete key equals. Every
    /// key of the excluded end sorts after its prefix, so the range is exactly half-open. A range without a start or an
    /// end is still bounded, so that it contains only keys with such a part.
    pub fn ask(&self, parameters: impl Values<Parameters>) -> Query<Item> {
        let Declaration { place, bound, .. } = self.declared;
        let (mut partition, mut sort) = (Spelling::new(place.partition), Spelling::new(place.sort));
        let mut between = None;
        parameters.each(&mut |given| match given {
            Given::Part(part) if !partition.is_complete() => partition.add(part),
            Given::Part(part) => sort.add(part),
            Given::Between([from, to]) => {
                let end = |part: Option<&dyn KeyPart>, open: &str| {
                    let mut end = sort.clone();
                    match part {
                        Some(part) => end.add(part),
                        None => end.key.push_str(open),
                    }
                    end.key
                };
                let (low, high) = (end(from, SortRange::FIRST), end(to, SortRange::AFTER_DIGITS));
                between = Some(SortRange::Between { low, high });
            }
        });
        let range = match between {
            Some(between) => between,
            None if bound == Bound::One && place.sort == place.partition => SortRange::Exactly(partition.key.clone()),
            // DynamoDB refuses an empty string in a key condition.
            None if sort.key.is_empty() => SortRange::Whole,
            None if sort.is_complete() => SortRange::Exactly(sort.key),
            None => SortRange::BeginsWith(sort.key),
        };
        Query { declared: self.declared, partition: partition.key, range, item: PhantomData }
    }
}

/// A pattern with its parameters: the keys that one Query reads. They are canonical.
#[derive(Clone, Debug)]
pub struct Query<Item> {
    pub declared: Declaration,
    /// The partition key.
    pub partition: String,
    /// The sort keys.
    pub range: SortRange,
    item: PhantomData<fn() -> Item>,
}

impl<Item> Query<Item> {
    /// The sort keys that remain to be read after `position`; without one, all of them.
    pub fn rest(&self, position: Option<&str>) -> SortRange {
        position.map_or_else(|| self.range.clone(), |position| self.range.rest(self.declared.direction, position))
    }
}

/// The queries of a list that is spread over this number of shards.
pub fn in_shards<Item>(shards: u8, query: impl FnMut(u8) -> Query<Item>) -> Vec<Query<Item>> {
    (0..shards).map(query).collect()
}

/// An access pattern as data.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The pattern's number in the documentation.
    pub number: u8,
    /// The question in words.
    pub question: &'static str,
    /// The place of the items. If a pattern reads several kinds of items, the place of the first kind. The sort key is
    /// empty if the pattern reads whole partitions.
    pub place: PlaceText,
    /// The kinds of items in the answer.
    pub entities: &'static [&'static str],
    pub consistency: Consistency,
    pub direction: Direction,
    pub bound: Bound,
}

/// The consistency of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// Strongly consistent: the read sees every write that was acknowledged before. Only reads of the table can be, at
    /// twice the price.
    Strong,
    /// Eventually consistent: the read may miss a recent write. All reads of an index are.
    Eventual,
}

/// The order of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the lowest sort key: the oldest first.
    Ascending,
    /// From the highest sort key: the newest first.
    Descending,
}

/// The bound on the size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most one item.
    One,
    /// All items, which are never more than this number.
    AtMost(u16),
    /// All items, however many. One request for each megabyte.
    All,
    /// A page of at most 100 items.
    Page,
}

/// The number of items to request first from each shard for one page: an even share, plus three standard deviations of
/// the shares of a uniform hash. A request for the whole page from each shard would read as many pages as there are
/// shards.
pub fn share_of_page(limit: u8, shards: usize) -> u8 {
    let even = usize::from(limit).div_ceil(shards.max(1));
    u8::try_from(even + (9 * even).isqrt()).unwrap_or(u8::MAX).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_shares_of_all_shards_fill_a_page_and_no_share_exceeds_a_page(
            limit in 1..=100_u8, shards in 1..=255_usize,
        ) {
            let share = share_of_page(limit, shards);
            prop_assert!(usize::from(share) * shards >= usize::from(limit));
            prop_assert!((1..=limit).contains(&share));
        }
    }

    #[test]
    fn a_page_of_100_from_8_shards_reads_less_than_two_pages() {
        assert_eq!(share_of_page(100, 8), 23);
        assert_eq!(share_of_page(100, 1), 100);
    }
}
