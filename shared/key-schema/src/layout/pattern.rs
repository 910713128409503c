//! Access patterns and their declarations.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entity::Entity;

use super::{Key, PlaceText, SortRange};

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

/// One question that a Query on the table or an index answers.
///
/// The implementing type is named after the answer and has the parameters of the question as fields. Every Query is an
/// access pattern.
pub trait AccessPattern {
    /// The type of the items in the answer.
    type Item: DeserializeOwned;

    /// The declaration, from which requests, documentation and tests are made.
    const DECLARED: Declaration;

    /// The partition key to read.
    fn partition(&self) -> String;

    /// The sort keys to read.
    fn range(&self) -> SortRange;

    /// The sort keys that remain to be read after `position`.
    fn rest(&self, position: &str) -> SortRange {
        match Self::DECLARED.direction {
            Direction::Ascending => self.range().after(position),
            Direction::Descending => self.range().before(position),
        }
    }
}

/// An access pattern as data.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The pattern's number in the documentation.
    pub number: u8,
    /// The question in words.
    pub question: &'static str,
    /// The place of the items. If a pattern reads several kinds of items, the place of the first kind.
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
    Collection(u16),
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
