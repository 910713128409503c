//! Splits a page of items into transactions.

use key_schema::layout::Key;
use table::Item;

use crate::item::size;

/// The most pairs of one transaction. A transaction takes 100 actions. A smaller one conflicts with fewer requests of
/// the shop.
pub(crate) const MOST_PAIRS: usize = 25;

/// The most bytes of one transaction, which takes 4 MB.
const MOST_BYTES: usize = 2_000_000;

/// Splits the items into batches, each small enough for one transaction that puts all of them.
pub(crate) fn batches(items: Vec<(Key, Item)>) -> Vec<Vec<(Key, Item)>> {
    let mut batches: Vec<Vec<(Key, Item)>> = Vec::new();
    let mut bytes = 0;
    for item in items {
        let size = size(&item.1);
        match batches.last_mut() {
            Some(batch) if batch.len() < MOST_PAIRS && bytes + size <= MOST_BYTES => {
                bytes += size;
                batch.push(item);
            }
            _ => {
                bytes = size;
                batches.push(vec![item]);
            }
        }
    }
    batches
}
