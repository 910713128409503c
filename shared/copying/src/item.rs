//! Items, as far as copying has to know them.

use key_schema::layout::{COPIED, ENTITY_TYPE, EXPIRES_AT, OF_A_MIGRATION};
use key_schema::value::Timestamp;
use table::{AttributeValue, Item};

use crate::sums::digest;

/// The kind of an item: its `EntityType`. Empty if the item has none.
pub(crate) fn kind(item: &Item) -> &str {
    match item.get(ENTITY_TYPE) {
        Some(AttributeValue::S(kind)) => kind,
        _ => "",
    }
}

/// Whether items of this kind have a copy. The items of the migration itself have none.
pub fn is_copied(item: &Item) -> bool {
    !OF_A_MIGRATION.contains(&kind(item))
}

/// Whether an item and its copy, both with canonical keys, are the same: every attribute but the mark of a copy.
pub fn same(item: &Item, copy: &Item) -> bool {
    digest(item) == digest(copy)
}

/// Whether DynamoDB's time to live may have deleted the item already. Each table deletes at a time of its own.
pub(crate) fn is_expired(item: &Item, now: Timestamp) -> bool {
    match item.get(EXPIRES_AT) {
        Some(AttributeValue::N(second)) => second.parse().is_ok_and(|second: i64| second <= now.as_second()),
        _ => false,
    }
}

/// The item as a copy: with a new mark.
pub(crate) fn as_copy(item: &Item, mark: u64) -> Item {
    let mut copy = item.clone();
    copy.insert(COPIED.to_owned(), AttributeValue::S(mark.to_string()));
    copy
}

/// The size of an item in bytes: about what DynamoDB counts, and never much less.
pub(crate) fn size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + size_of(value)).sum()
}

fn size_of(value: &AttributeValue) -> usize {
    const NESTED: usize = 3;
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len() + 1,
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => texts.iter().map(|text| text.len() + 1).sum(),
        AttributeValue::Bs(all) => all.iter().map(|bytes| bytes.as_ref().len()).sum(),
        AttributeValue::L(list) => NESTED + list.iter().map(|value| 1 + size_of(value)).sum::<usize>(),
        AttributeValue::M(map) => {
            NESTED + map.iter().map(|(name, value)| name.len() + 1 + size_of(value)).sum::<usize>()
        }
        _ => 1,
    }
}
