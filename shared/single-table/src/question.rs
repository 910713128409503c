//! Questions: access patterns together with their parameters, as data.
//!
//! A question can be asked of a table without knowing the type of its items.

use crate::{Bound, Declaration, Direction, Key, Query, SortRange};

/// An access pattern with its parameters.
#[derive(Clone, Debug)]
pub struct Question {
    /// The pattern.
    pub declared: Declaration,
    /// The keys to read.
    pub reads: Reads,
}

/// The keys that a question reads. All of them are canonical.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// Sort keys of one partition, by a Query.
    Range {
        /// The partition key.
        partition: String,
        /// The sort keys.
        range: SortRange,
    },
    /// Keys of the table, by BatchGetItem.
    Batch(Vec<Key>),
}

impl<Item> From<Query<Item>> for Question {
    fn from(Query { declared, partition, range, .. }: Query<Item>) -> Self {
        Self { declared, reads: Reads::Range { partition, range } }
    }
}

impl Question {
    /// Whether the answer is a list, with an order and cursors. Every other answer is a set of items.
    pub fn is_list(&self) -> bool {
        self.declared.bound == Bound::Page
    }

    /// The same question after this position. `None` if the question has no positions.
    #[must_use]
    pub fn after(&self, position: &str) -> Option<Self> {
        self.narrowed(|range, direction| range.rest(direction, position))
    }

    /// The part of the list that begins with the item at this position. `None` if the question has no positions.
    #[must_use]
    pub fn from(&self, position: &str) -> Option<Self> {
        self.narrowed(|range, direction| range.starting_at(direction, position))
    }

    fn narrowed(&self, narrow: impl FnOnce(&SortRange, Direction) -> SortRange) -> Option<Self> {
        let Reads::Range { partition, range } = &self.reads else { return None };
        let range = narrow(range, self.declared.direction);
        Some(Self { declared: self.declared, reads: Reads::Range { partition: partition.clone(), range } })
    }
}
