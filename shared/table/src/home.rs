//! A table and the layout of its keys.

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use key_schema::layout::{Index, Key, Layout, SortRange};

use crate::item::Item;

/// A table and the layout of its keys. Everywhere else in this project keys are canonical; here they are respelled.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) name: Arc<str>,
    pub(crate) layout: Layout,
}

impl Home {
    /// Whether this table's keys are the canonical ones, so that there is nothing to respell.
    pub(crate) fn is_canonical(&self) -> bool {
        self.layout == Layout::V1
    }

    /// The key of an item in this table.
    pub(crate) fn key(&self, key: Key) -> Key {
        self.layout.key(key)
    }

    pub(crate) fn respell(&self, item: &mut Item) {
        if !self.is_canonical() {
            respell(item, |key| Some(self.layout.key(key)));
        }
    }

    /// Respells the keys of an item that this table holds. Keys that no entity has stay as they are.
    pub(crate) fn canonicalize(&self, item: &mut Item) {
        if !self.is_canonical() {
            respell(item, |key| self.layout.canonical(key));
        }
    }

    /// The sort keys to read, from those of a canonical partition.
    pub(crate) fn range(&self, index: Index, partition: &str, range: SortRange) -> SortRange {
        self.layout.range(index, partition, range)
    }
}

/// Replaces the keys of an item in the table and in both indexes.
fn respell(item: &mut Item, other: impl Fn(Key) -> Option<Key>) {
    for index in [Index::Table, Index::Gsi1, Index::Gsi2] {
        let (partition, sort) = index.attributes();
        let (Some(AttributeValue::S(old_partition)), Some(AttributeValue::S(old_sort))) =
            (item.get(partition), item.get(sort))
        else {
            continue;
        };
        let key = Key { index, partition: old_partition.clone(), sort: old_sort.clone() };
        if let Some(key) = other(key) {
            item.insert(partition.to_owned(), AttributeValue::S(key.partition));
            item.insert(sort.to_owned(), AttributeValue::S(key.sort));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_the_keys_of_its_table_and_gets_the_canonical_ones_back() {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let canonical: Item =
            [("PK", "o#1"), ("SK", "o#1"), ("GSI2PK", "c#ada"), ("GSI2SK", "o#2026#1"), ("note", "o#1")]
                .map(|(name, value)| (name.to_owned(), text(value)))
                .into();
        let home = Home { name: "next".into(), layout: Layout::V2 };
        let mut item = canonical.clone();
        home.respell(&mut item);
        let of = |name: &str| item.get(name).cloned();
        assert_eq!([of("PK"), of("SK")], [Some(text("ORDER#1")), Some(text("META"))]);
        assert_eq!([of("GSI2PK"), of("GSI2SK")], [Some(text("CUSTOMER#ada")), Some(text("ORDER#2026#1"))]);
        assert_eq!(of("note"), Some(text("o#1")), "no key");
        home.canonicalize(&mut item);
        assert_eq!(item, canonical);
    }
}
