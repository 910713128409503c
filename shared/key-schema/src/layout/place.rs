//! Places: the keys of an entity in the table or in an index.

use crate::value::{TimeRange, Timestamp};

use super::SortRange;
use super::template::{Arity, Full, Prefix, Template, spells};

/// The table itself or one of its two overloaded indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// The table, with the attributes `PK` and `SK`.
    Table,
    /// The first index, with the attributes `GSI1PK` and `GSI1SK`.
    Gsi1,
    /// The second index, with the attributes `GSI2PK` and `GSI2SK`.
    Gsi2,
}

impl Index {
    /// The index's name in DynamoDB; `None` for the table itself.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Table => None,
            Self::Gsi1 => Some("GSI1"),
            Self::Gsi2 => Some("GSI2"),
        }
    }

    /// The names of the partition key and the sort key.
    pub const fn attributes(self) -> (&'static str, &'static str) {
        match self {
            Self::Table => ("PK", "SK"),
            Self::Gsi1 => ("GSI1PK", "GSI1SK"),
            Self::Gsi2 => ("GSI2PK", "GSI2SK"),
        }
    }
}

/// The keys of one entity in the table or in one index.
pub struct Place<Partition, Sort> {
    pub(super) index: Index,
    pub(super) partition: Template<Partition>,
    pub(super) sort: Template<Sort>,
}

impl<Partition, Sort> Clone for Place<Partition, Sort> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Partition, Sort> Copy for Place<Partition, Sort> {}

/// A [`Place`] as text, for documentation and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceText {
    pub index: Index,
    /// The partition key's template.
    pub partition: &'static str,
    /// The sort key's template.
    pub sort: &'static str,
}

impl PlaceText {
    /// Whether the item with this key is at the place.
    pub fn is_of(&self, key: &Key) -> bool {
        self.index == key.index && spells(self.partition, &key.partition) && spells(self.sort, &key.sort)
    }
}

impl<Partition: Arity, Sort: Arity> Place<Partition, Sort> {
    /// A place in the table.
    pub(super) const fn table(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Table, partition, sort }
    }

    /// A place in the first index.
    pub(super) const fn gsi1(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Gsi1, partition, sort }
    }

    /// A place in the second index.
    pub(super) const fn gsi2(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Gsi2, partition, sort }
    }

    /// The place as text.
    pub const fn text(&self) -> PlaceText {
        PlaceText { index: self.index, partition: self.partition.text(), sort: self.sort.text() }
    }

    /// The key of the item with these parts.
    pub(super) fn key(&self, partition: impl Full<Partition>, sort: impl Full<Sort>) -> Key {
        Key { index: self.index, partition: self.partition.fill(partition), sort: self.sort.fill(sort) }
    }
}

impl<Partition: Arity, Sort: Arity> Place<Partition, Sort>
where
    (): Prefix<Sort>,
{
    /// The sort keys of all items of this kind in a partition.
    pub(super) fn all(&self) -> SortRange {
        let prefix = self.sort.prefix(());
        // DynamoDB refuses an empty string in a key condition.
        if prefix.is_empty() { SortRange::Whole } else { SortRange::BeginsWith(prefix) }
    }

    /// The sort keys in a range of time, for a template that begins with a time.
    ///
    /// `BETWEEN` includes both of its ends, but here both ends are prefixes that no complete key equals. Every key of
    /// the moment `to` sorts after the prefix of `to`, so the range is exactly half-open.
    ///
    /// A range without a start or an end is still bounded, so that it contains only keys with a time. In particular, it
    /// does not contain the profile's `o#~` among a customer's orders.
    pub(super) fn within(&self, range: &TimeRange) -> SortRange
    where
        for<'a> (&'a Timestamp,): Prefix<Sort>,
    {
        let end = |moment: Option<&Timestamp>, unbounded: &str| match moment {
            Some(moment) => self.sort.prefix((moment,)),
            None => self.sort.prefix(()) + unbounded,
        };
        SortRange::Between { low: end(range.from(), SortRange::FIRST), high: end(range.to(), SortRange::AFTER_DIGITS) }
    }
}

/// A partition key and a sort key in one index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub index: Index,
    pub partition: String,
    pub sort: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::value::{CustomerId, OrderId};

    #[test]
    fn an_unbounded_range_of_time_contains_only_keys_with_a_time() {
        const ORDERS: Place<(CustomerId,), (Timestamp, OrderId)> =
            Place::gsi2(Template::new("c#{customerId}"), Template::new("o#{placedAt}#{orderId}"));
        let since = TimeRange::parse(Some("2026-01-01"), None).expect("a range");
        for range in [ORDERS.within(&TimeRange::default()), ORDERS.within(&since)] {
            assert!(range.contains("o#2026-11-21T09:30:00.000Z#first"));
            assert!(!range.contains("o#~"), "the profile");
            assert!(!range.contains("p#2026-11-21T09:30:00.000Z#first#teapot"), "a line");
        }
    }
}
