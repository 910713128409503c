//! Ranges of sort keys.

use crate::Direction;

/// The sort keys of a partition to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SortRange {
    /// Every key of the partition.
    Whole,
    /// This key only.
    Exactly(String),
    /// The keys with this prefix.
    BeginsWith(String),
    /// The keys from `low` to `high`, both included, as in DynamoDB.
    Between {
        /// The first key.
        low: String,
        /// The last key.
        high: String,
    },
}

impl SortRange {
    /// A character that sorts after all characters of keys.
    const LAST: &str = "~";
    /// A character that sorts after all digits, and so after every part that begins with a digit.
    pub(crate) const AFTER_DIGITS: &str = ":";
    /// A character that sorts before all characters of keys.
    pub(crate) const FIRST: &str = " ";

    /// Whether the key is in the range.
    pub fn contains(&self, key: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Exactly(exact) => key == exact,
            Self::BeginsWith(prefix) => key.starts_with(prefix),
            Self::Between { low, high } => (low.as_str()..=high.as_str()).contains(&key),
        }
    }

    /// The condition of a Query on the sort key `#sort`, with the values that it names. Empty: there is none.
    pub fn condition(&self) -> (&'static str, Vec<(&'static str, &str)>) {
        match self {
            Self::Whole => ("", vec![]),
            Self::Exactly(key) => ("#sort = :key", vec![(":key", key)]),
            Self::BeginsWith(prefix) => ("begins_with(#sort, :prefix)", vec![(":prefix", prefix)]),
            Self::Between { low, high } => ("#sort BETWEEN :low AND :high", vec![(":low", low), (":high", high)]),
        }
    }

    /// Whether no key can be in the range. DynamoDB refuses such a range instead of returning no items.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Between { low, high } if low > high)
    }

    /// The rest of a walk in this direction that has read up to `position`.
    #[must_use]
    pub fn rest(&self, direction: Direction, position: &str) -> Self {
        match direction {
            Direction::Ascending => self.after(position),
            Direction::Descending => self.before(position),
        }
    }

    /// The rest of an ascending walk that has read up to `position`.
    ///
    /// In every list the sort keys are unique, so the position of an item is its sort key alone, and the rest of the
    /// walk is an ordinary range. `ExclusiveStartKey` is not used: it would need all key attributes of the last item.
    fn after(&self, position: &str) -> Self {
        let (_, high) = self.ends();
        Self::Between { low: format!("{position}{}", Self::FIRST), high }
    }

    /// The rest of a descending walk that has read down to `position`.
    fn before(&self, position: &str) -> Self {
        let (low, _) = self.ends();
        let mut high = position.to_owned();
        // The greatest key below `position` is at most `position` with its last character replaced by the preceding
        // one, followed by characters that sort before `~`. There always is a preceding one: keys are printable ASCII.
        if let Some(last) = high.pop() {
            high.extend(char::from_u32(u32::from(last).saturating_sub(1)));
        }
        high.push_str(Self::LAST);
        Self::Between { low, high }
    }

    /// The part of the range that a walk in this direction reads from this key on.
    #[must_use]
    pub fn starting_at(&self, direction: Direction, key: &str) -> Self {
        let (low, high) = self.ends();
        match direction {
            Direction::Ascending => Self::Between { low: key.to_owned(), high },
            Direction::Descending => Self::Between { low, high: key.to_owned() },
        }
    }

    fn ends(&self) -> (String, String) {
        match self {
            Self::Whole => (Self::FIRST.to_owned(), Self::LAST.to_owned()),
            Self::Exactly(exact) => (exact.clone(), exact.clone()),
            Self::BeginsWith(prefix) => (prefix.clone(), format!("{prefix}{}", Self::LAST)),
            Self::Between { low, high } => (low.clone(), high.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    #[test]
    fn between_includes_both_of_its_ends_as_in_dynamodb() {
        let between = |low: &str, high: &str| SortRange::Between { low: low.to_owned(), high: high.to_owned() };
        assert!(["b", "c", "d"].iter().all(|key| between("b", "d").contains(key)));
        assert!(["a", "b ", "da"].iter().all(|key| !between("b", "b").contains(key)));
        assert!(!between("b", "b").is_empty() && between("b ", "b").is_empty());
    }

    proptest! {
        #[test]
        fn a_walk_resumed_anywhere_in_either_direction_skips_and_repeats_no_key(
            keys in btree_set("i#[a-d-]{1,5}", 1..12), pick in any::<prop::sample::Index>(),
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let at = pick.index(keys.len());
            for range in [SortRange::Whole, SortRange::BeginsWith("i#".to_owned())] {
                let left = |range: &SortRange| keys.iter().filter(|key| range.contains(key)).cloned().collect::<Vec<_>>();
                prop_assert_eq!(left(&range.rest(Direction::Ascending, &keys[at])), &keys[at + 1..]);
                prop_assert_eq!(left(&range.rest(Direction::Descending, &keys[at])), &keys[..at]);
                prop_assert_eq!(left(&range.starting_at(Direction::Ascending, &keys[at])), &keys[at..]);
                prop_assert_eq!(left(&range.starting_at(Direction::Descending, &keys[at])), &keys[..=at]);
            }
        }
    }
}
