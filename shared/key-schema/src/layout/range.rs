//! Ranges of sort keys.

/// Which sort keys of a partition to read. Both ends of [`Between`](Self::Between) are included, as in DynamoDB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortRange {
    /// Every key of the partition.
    Whole,
    /// The one key.
    Exactly(String),
    /// The keys that begin so.
    BeginsWith(String),
    /// The keys from `low` to `high`.
    Between {
        /// The lowest key read.
        low: String,
        /// The highest key read.
        high: String,
    },
}

impl SortRange {
    /// Sorts after every character that a key holds.
    const LAST: &str = "~";
    /// Sorts after every digit, and so after every moment.
    pub(super) const AFTER_DIGITS: &str = ":";
    /// Sorts before every character that a key holds.
    pub(super) const FIRST: &str = " ";

    /// Whether the key lies within.
    pub fn contains(&self, key: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Exactly(exact) => key == exact,
            Self::BeginsWith(prefix) => key.starts_with(prefix),
            Self::Between { low, high } => (low.as_str()..=high.as_str()).contains(&key),
        }
    }

    /// Whether no key can lie within. DynamoDB refuses such a range instead of answering it with nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Between { low, high } if low > high)
    }

    /// What is left of an ascending walk that has read up to `position`.
    ///
    /// Sort keys are unique within a partition, so a place in a list is its sort key alone, and going on after it
    /// is a range like any other. `ExclusiveStartKey`, which would need every key attribute of the last item, is
    /// not needed.
    #[must_use]
    pub fn after(&self, position: &str) -> Self {
        let (_, high) = self.ends();
        Self::Between { low: format!("{position}{}", Self::FIRST), high }
    }

    /// What is left of a descending walk that has read down to `position`.
    #[must_use]
    pub fn before(&self, position: &str) -> Self {
        let (low, _) = self.ends();
        let mut high = position.to_owned();
        // Keys are ASCII, and no key ends in the lowest character there is, so the last one has a predecessor;
        // every key below `position` is at most that, followed by something that sorts before `~`.
        if let Some(last) = high.pop() {
            high.extend(char::from_u32(u32::from(last).saturating_sub(1)));
        }
        high.push_str(Self::LAST);
        Self::Between { low, high }
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
    fn both_ends_of_between_lie_within_as_in_dynamodb() {
        let between = |low: &str, high: &str| SortRange::Between { low: low.to_owned(), high: high.to_owned() };
        assert!(["b", "c", "d"].iter().all(|key| between("b", "d").contains(key)));
        assert!(["a", "b ", "da"].iter().all(|key| !between("b", "b").contains(key)));
        assert!(!between("b", "b").is_empty() && between("b ", "b").is_empty());
    }

    proptest! {
        #[test]
        fn a_walk_resumed_anywhere_in_either_direction_misses_nothing_and_repeats_nothing(
            keys in btree_set("i#[a-d-]{1,5}", 1..12), pick in any::<prop::sample::Index>(),
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let at = pick.index(keys.len());
            for range in [SortRange::Whole, SortRange::BeginsWith("i#".to_owned())] {
                let left = |range: &SortRange| keys.iter().filter(|key| range.contains(key)).cloned().collect::<Vec<_>>();
                prop_assert_eq!(left(&range.after(&keys[at])), &keys[at + 1..]);
                prop_assert_eq!(left(&range.before(&keys[at])), &keys[..at]);
            }
        }
    }
}
