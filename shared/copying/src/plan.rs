//! The one decision of copying: how an item and its copy become equal.
//!
//! Each plan is a transaction that also checks the item in the leading table. So a plan that is carried out late does
//! nothing, and needs no tombstones: the copy of a deleted item cannot come back, because the check of the deleted item
//! is in the same transaction.
//!
//! | leading table | other table | transaction |
//! |---|---|---|
//! | equal to the copy | | none |
//! | item | none | the item exists; put the copy, unless there is one |
//! | none | copy | no item exists; mark the copy as removed, if it is unchanged |
//! | none | copy that is marked as removed | no item exists; delete the copy, if it is unchanged |
//! | item | other content | the item is unchanged; put the copy, if the old one is unchanged |

use key_schema::entity::Side;
use key_schema::layout::{COPIED, Key, REMOVED};
use table::{AttributeValue, Condition, Item, Pair, Write};

use crate::item::{as_copy, same};

/// The difference between an item and its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plan {
    /// The two are equal, or neither exists.
    Equal,
    /// The copy is missing.
    Put,
    /// The copy has another content.
    Replace,
    /// The copy has no item.
    Delete,
}

/// What makes a pair equal, if this table leads.
pub fn plan(pair: &Pair, leader: Side) -> Plan {
    match (pair.of(leader), pair.of(leader.other())) {
        (None, None) => Plan::Equal,
        (Some(item), Some(copy)) if same(item, copy) => Plan::Equal,
        (Some(_), None) => Plan::Put,
        (Some(_), Some(_)) => Plan::Replace,
        (None, Some(_)) => Plan::Delete,
    }
}

/// The next transaction on the way to an equal pair, if this table leads; empty if the pair is equal. Only the deletion of
/// a copy takes two: the readers of the streams know the end of a copy by the mark that it had last. `mark` is a new random
/// number, by which the readers of the streams know the copy.
pub fn writes(pair: &Pair, leader: Side, mark: u64) -> Vec<(Side, Write)> {
    let (key, other) = (pair.key.clone(), leader.other());
    match (plan(pair, leader), pair.of(leader), pair.of(other)) {
        (Plan::Put, Some(item), _) => put_absent(key, item, leader, mark).into(),
        (Plan::Replace, Some(item), Some(copy)) => vec![
            (leader, Write::check(key, Condition::unchanged(item))),
            (other, Write::put_item(as_copy(item, mark), Condition::unchanged(copy))),
        ],
        (Plan::Delete, _, Some(copy)) => {
            vec![(leader, Write::check(key.clone(), Condition::absent())), (other, removal(key, copy))]
        }
        _ => Vec::new(),
    }
}

/// Deletes a copy that is marked as removed, and marks any other one.
fn removal(key: Key, copy: &Item) -> Write {
    let condition = Condition::unchanged(copy);
    let mark = AttributeValue::S(REMOVED.to_owned());
    if copy.get(COPIED) == Some(&mark) {
        return Write::delete_if(key, condition);
    }
    let mut marked = copy.clone();
    marked.insert(COPIED.to_owned(), mark);
    Write::put_item(marked, condition)
}

/// The transaction that puts the copy of an item, unless there is one.
///
/// The item may be out of date, such as one of a scan. If the shop has changed it since, either the shop wrote its copy,
/// and this transaction fails, or the shop left a repair, which replaces the copy.
pub fn put_absent(key: Key, item: &Item, leader: Side, mark: u64) -> [(Side, Write); 2] {
    [
        (leader, Write::check(key, Condition::present())),
        (leader.other(), Write::put_item(as_copy(item, mark), Condition::absent())),
    ]
}
