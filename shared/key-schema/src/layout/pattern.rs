//! What an access pattern declares.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entity::Entity;

use super::{Key, PlaceText, SortRange};

/// An entity with its place in the table.
pub trait Stored: Entity + Serialize + DeserializeOwned {
    /// Its places: the table first, then the indexes it has an entry in.
    const PLACES: &'static [PlaceText];

    /// The key of the item itself.
    fn key(&self) -> Key;

    /// The keys of its index entries.
    fn index_keys(&self) -> Vec<Key> {
        Vec::new()
    }
}

/// One question the table answers, and how.
///
/// The implementing type is named for the answer and holds what the question needs. Nothing reads the table any
/// other way.
pub trait AccessPattern {
    /// What each item of the answer is read into.
    type Item: DeserializeOwned;

    /// The declaration, from which come the requests, the charts and the checks.
    const DECLARED: Declaration;

    /// The partition key to read.
    fn partition(&self) -> String;

    /// The sort keys to read.
    fn range(&self) -> SortRange;

    /// The sort keys left to read for whoever has come to `position`.
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
    /// Its number in the documentation.
    pub number: u8,
    /// The question in plain words.
    pub question: &'static str,
    /// Where the answer lies. Where a pattern reads items of several kinds, the place of the first.
    pub place: PlaceText,
    /// The kinds of item in the answer.
    pub entities: &'static [&'static str],
    /// How fresh the answer is.
    pub consistency: Consistency,
    /// In which order the items come.
    pub direction: Direction,
    /// How much one read may bring.
    pub bound: Bound,
}

/// How fresh a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// Every write that was acknowledged before is seen. Only the table offers it; twice the price.
    Strong,
    /// A write may be missing for a moment. All that an index offers.
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

/// The bound on one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most one item.
    One,
    /// Everything, which is never more items than this.
    Collection(u16),
    /// A whole item collection, however long: one request for each megabyte.
    All,
    /// A page of at most 100 items.
    Page,
}

/// How many items of a page each of several shards is asked for at first, where a stable hash spreads them: its even
/// share and three standard deviations more. To ask each for the whole page would be to read as many pages as there
/// are shards.
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
        fn the_shares_of_all_shards_are_a_page_and_no_share_is_more_than_one(
            limit in 1..=100_u8, shards in 1..=255_usize,
        ) {
            let share = share_of_page(limit, shards);
            prop_assert!(usize::from(share) * shards >= usize::from(limit));
            prop_assert!((1..=limit).contains(&share));
        }
    }

    #[test]
    fn a_page_of_a_hundred_from_eight_shards_reads_less_than_two() {
        assert_eq!(share_of_page(100, 8), 23);
        assert_eq!(share_of_page(100, 1), 100);
    }
}
