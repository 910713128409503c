//! The capacity units of reads and writes.
//!
//! The rules are DynamoDB's, as published in these places:
//! - items, reads and writes:
//!   <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html>
//! - indexes: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations>
//! - transactions:
//!   <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling>

use key_schema::layout::{Consistency, Index};
use serde_dynamo::Item;

use crate::Units;
use crate::size;

const WRITE_UNIT: usize = 1024;

/// The bytes of one read unit, for a strongly consistent read.
const READ_UNIT: usize = 4096;

/// The factor for items of a transaction, which are read or written twice: to prepare the transaction and to commit it.
/// Index entries are written once, as by any other write.
pub const TRANSACTION: f64 = 2.0;

/// Write units of this many bytes: one for each started kilobyte, and at least one.
pub fn write_units(bytes: usize) -> f64 {
    begun(bytes, WRITE_UNIT)
}

/// Read units of this many bytes: one for each four started kilobytes, and at least one, even if nothing is found. An
/// eventually consistent read costs half of that.
///
/// A `Query` adds up what it finds and rounds once. `GetItem` and `BatchGetItem` round each item.
pub fn read_units(bytes: usize, consistency: Consistency) -> f64 {
    let units = begun(bytes, READ_UNIT);
    match consistency {
        Consistency::Strong => units,
        Consistency::Eventual => units / 2.0,
    }
}

/// Read units of an item that is read in a transaction.
pub fn transactional_read_units(bytes: usize) -> f64 {
    TRANSACTION * read_units(bytes, Consistency::Strong)
}

/// The number of started units of this size, at least one.
fn begun(bytes: usize, each: usize) -> f64 {
    // An item has at most 400 KB, an answer 1 MB.
    f64::from(u32::try_from(bytes.div_ceil(each).max(1)).unwrap_or(u32::MAX))
}

/// An item before and after a write. `before` is `None` for a new item, and `after` for a deleted one.
#[derive(Clone, Copy, Debug)]
pub struct Images<'a> {
    pub before: Option<&'a Item>,
    pub after: Option<&'a Item>,
}

impl Images<'_> {
    /// The billed bytes: the larger of the two images, whichever attributes the write changes.
    fn bytes(self) -> usize {
        self.before.map_or(0, size::of_item).max(self.after.map_or(0, size::of_item))
    }

    /// Units of the table for a write outside a transaction. It costs the same if its condition fails.
    pub fn table(self) -> f64 {
        write_units(self.bytes())
    }

    /// Read units of a transaction's write if the transaction is repeated with its token, so that DynamoDB only repeats
    /// its answer.
    pub fn repeated(self) -> f64 {
        transactional_read_units(self.bytes())
    }

    /// Units of an index: none for an unchanged entry, one write for a new, removed or changed entry, and two if the
    /// key changes, because the entry is deleted and put again.
    pub fn entry(self, index: Index) -> f64 {
        let units = |entry: &Item| write_units(size::of_item(entry));
        match (self.before.and_then(|item| entry(index, item)), self.after.and_then(|item| entry(index, item))) {
            (None, None) => 0.0,
            (Some(one), None) | (None, Some(one)) => units(one),
            (Some(before), Some(after)) if before == after => 0.0,
            (Some(before), Some(after)) if key(index, before) == key(index, after) => units(before).max(units(after)),
            (Some(before), Some(after)) => units(before) + units(after),
        }
    }

    /// Units of the table, multiplied by the factor, and of both indexes.
    pub fn units(self, factor: f64) -> Units {
        Units { table: factor * self.table(), gsi1: self.entry(Index::Gsi1), gsi2: self.entry(Index::Gsi2) }
    }

    /// The difference in billed storage.
    pub fn stored(self) -> Units {
        let of = |index| {
            let bytes = |item: Option<&Item>| {
                let entry = item.and_then(|item| entry(index, item));
                entry.map_or(0.0, |entry| float(size::of_item(entry) + size::STORAGE_OVERHEAD))
            };
            bytes(self.after) - bytes(self.before)
        };
        Units { table: of(Index::Table), gsi1: of(Index::Gsi1), gsi2: of(Index::Gsi2) }
    }
}

/// The item's entry, which has all of its attributes. `None` if the item lacks a key attribute of the index.
fn entry(index: Index, item: &Item) -> Option<&Item> {
    key(index, item).map(|_| item)
}

fn key(index: Index, item: &Item) -> Option<[&serde_dynamo::AttributeValue; 2]> {
    let (partition, sort) = index.attributes();
    Some([item.get(partition)?, item.get(sort)?])
}

/// A count of bytes, for sums and averages.
fn float(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use key_schema::layout::Index::{Gsi1, Table};
    use proptest::prelude::*;
    use serde_dynamo::AttributeValue;

    use super::*;

    /// An item with an entry in the first index under this key, and so many bytes of text.
    fn item(key: &str, bytes: usize) -> Item {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let mut item = Item::from(std::collections::HashMap::<String, AttributeValue>::new());
        for name in ["PK", "SK", "GSI1PK", "GSI1SK"] {
            item.insert(name.to_owned(), text(if name.starts_with("GSI") { key } else { "k" }));
        }
        item.insert("text".to_owned(), text(&"t".repeat(bytes)));
        item
    }

    #[test]
    fn a_unit_ends_with_its_last_byte_and_every_request_costs_at_least_one() {
        for (bytes, units) in [(0, 1.0), (1, 1.0), (1024, 1.0), (1025, 2.0), (400 * 1024, 400.0)] {
            assert_eq!(write_units(bytes), units, "{bytes}");
        }
        for (bytes, units) in [(0, 1.0), (4096, 1.0), (4097, 2.0)] {
            assert_eq!(read_units(bytes, Consistency::Strong), units, "{bytes}");
            assert_eq!(read_units(bytes, Consistency::Eventual), units / 2.0, "{bytes}");
            assert_eq!(transactional_read_units(bytes), units * 2.0, "{bytes}");
        }
    }

    proptest! {
        #[test]
        fn an_entry_is_charged_by_its_change(was in 0..5000_usize, is in 0..5000_usize, moves: bool) {
            let (before, after) = (item("here", was), item(if moves { "away" } else { "here" }, is));
            let units = |before, after| Images { before, after }.entry(Gsi1);
            let [one, other] = [&before, &after].map(|item| write_units(size::of_item(item)));
            prop_assert_eq!(units(None, None), 0.0);
            prop_assert_eq!(units(None, Some(&after)), other);
            prop_assert_eq!(units(Some(&before), None), one);
            prop_assert_eq!(units(Some(&before), Some(&before)), 0.0);
            let expected = if moves { one + other } else if was == is { 0.0 } else { one.max(other) };
            prop_assert_eq!(units(Some(&before), Some(&after)), expected);
        }

        #[test]
        fn a_write_costs_its_larger_image_and_a_transaction_doubles_the_table_s_units_only(
            was in 0..5000_usize, is in 0..5000_usize,
        ) {
            let (before, after) = (item("here", was), item("away", is));
            let images = Images { before: Some(&before), after: Some(&after) };
            let [plain, doubled] = [1.0, TRANSACTION].map(|factor| images.units(factor));
            let larger = size::of_item(if was > is { &before } else { &after });
            prop_assert_eq!(plain.table, write_units(larger));
            prop_assert_eq!(doubled, Units { table: 2.0 * plain.table, ..plain });
            prop_assert_eq!(images.repeated(), transactional_read_units(larger));
        }

        #[test]
        fn an_item_that_is_created_and_deleted_leaves_no_storage(bytes in 0..5000_usize) {
            let item = item("here", bytes);
            let made = Images { before: None, after: Some(&item) }.stored();
            let gone = Images { before: Some(&item), after: None }.stored();
            prop_assert_eq!(made + gone, Units::default());
            prop_assert_eq!(made, Units { gsi1: made.table, ..Units::of(Table, made.table) });
        }
    }
}
