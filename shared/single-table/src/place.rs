//! Places: the keys of an entity in the table or in an index.

use crate::template::{Parts, Template, Values, spells};

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

/// The keys of one entity in the table or in one index. The access patterns of these keys are made from it:
/// [`one`](Self::one), [`list`](Self::list), [`collection`](Self::collection).
pub struct Place<Partition, Sort> {
    pub(crate) index: Index,
    pub(crate) partition: Template<Partition>,
    pub(crate) sort: Template<Sort>,
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
    /// The table or the index.
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

impl<Partition: Parts, Sort: Parts> Place<Partition, Sort> {
    /// A place in the table.
    pub const fn table(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Table, partition, sort }
    }

    /// A place in the first index.
    pub const fn gsi1(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Gsi1, partition, sort }
    }

    /// A place in the second index.
    pub const fn gsi2(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Gsi2, partition, sort }
    }

    /// The place as text.
    pub const fn text(&self) -> PlaceText {
        PlaceText { index: self.index, partition: self.partition.text(), sort: self.sort.text() }
    }

    /// The key of the item with these parts.
    pub fn key(&self, partition: impl Values<Partition>, sort: impl Values<Sort>) -> Key {
        Key { index: self.index, partition: self.partition.fill(partition), sort: self.sort.fill(sort) }
    }
}

/// A partition key and a sort key in one index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The table or the index.
    pub index: Index,
    /// The partition key.
    pub partition: String,
    /// The sort key.
    pub sort: String,
}
