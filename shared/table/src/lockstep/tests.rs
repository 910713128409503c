//! The transactions over both tables, and what is learned from their cancellation.
#![allow(clippy::expect_used, reason = "tests")]

use aws_sdk_dynamodb::types::{Put, Update};
use key_schema::entity::{Cart, OrderFlag};
use key_schema::layout::Layout;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Condition;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn home(layout: Layout) -> Home {
    Home { name: layout.name().into(), layout }
}

fn at() -> Timestamp {
    "2026-11-21T09:30:00.000Z".parse().expect("a time")
}

/// A write of the item with this number: a put, a change, an addition, a deletion or a check.
fn write(kind: u8, number: usize) -> Write {
    let id = format!("c{number}");
    let cart = Cart {
        customer_id: id.parse().expect("an id"),
        lines: Vec::new(),
        updated_at: at(),
        version: 1,
        expires_at: 1,
        erased_at: None,
    };
    let key = Cart::key_of(&cart.customer_id);
    let flag = OrderFlag { order_id: id.parse().expect("an id"), reason: "x".to_owned(), flagged_at: at() };
    let condition = Condition::new("#version = :one").value(":one", 1).expect("a number");
    match kind {
        0 => Write::put(&cart).expect("a write"),
        1 => Write::put_new(&cart).expect("a write"),
        2 => Write::update(key, "ADD #version :one", condition),
        3 => Write::set(&flag, Condition::absent()).expect("a write"),
        4 => Write::delete(key),
        _ => Write::check(key, Condition::present()),
    }
}

fn any_writes() -> impl Strategy<Value = Vec<Write>> {
    vec(0..6_u8, 1..60).prop_map(|kinds| kinds.into_iter().enumerate().map(|(at, kind)| write(kind, at)).collect())
}

fn table(action: &TransactWriteItem) -> &str {
    let names = [
        action.put.as_ref().map(Put::table_name),
        action.update.as_ref().map(Update::table_name),
        action.delete.as_ref().map(aws_sdk_dynamodb::types::Delete::table_name),
        action.condition_check.as_ref().map(aws_sdk_dynamodb::types::ConditionCheck::table_name),
    ];
    names.into_iter().flatten().next().expect("an action")
}

fn key(action: &TransactWriteItem, home: &Home) -> Key {
    let mut item = action.put.as_ref().map(|put| put.item.clone());
    item = item.or_else(|| action.update.as_ref().map(|update| update.key.clone()));
    item = item.or_else(|| action.delete.as_ref().map(|delete| delete.key.clone()));
    let item = item.expect("a write");
    let text = |name: &str| item[name].as_s().expect("a text").clone();
    let stored = Key { index: Index::Table, partition: text("PK"), sort: text("SK") };
    home.layout.canonical(stored).expect("a key of this layout")
}

fn is_marked(action: &TransactWriteItem) -> bool {
    match (&action.put, &action.update) {
        (Some(put), _) => put.item.contains_key(COPIED),
        (_, Some(update)) => update.update_expression.contains("#copied = :copied"),
        _ => false,
    }
}

fn condition(action: &TransactWriteItem) -> Option<&str> {
    match (&action.put, &action.update, &action.delete) {
        (Some(put), ..) => put.condition_expression(),
        (_, Some(update), _) => update.condition_expression(),
        (.., Some(delete)) => delete.condition_expression(),
        _ => None,
    }
}

proptest! {
    #[test]
    fn every_write_is_in_both_tables_under_the_same_condition_or_a_repair_names_its_item(
        writes in any_writes(), is_strict in any::<bool>(), next_leads in any::<bool>(), apart in vec(any::<bool>(), 60),
    ) {
        let both = [home(Layout::V1), home(Layout::V2)];
        let (leader, follower) = if next_leads { (&both[1], &both[0]) } else { (&both[0], &both[1]) };
        let homes = Homes { leader, follower: Some(follower), is_strict, beside: None };
        let mut lockstep = Lockstep::new(writes.clone());
        lockstep.is_apart.copy_from_slice(&apart[..writes.len()]);
        let keys = |is_meant: &dyn Fn(bool) -> bool| {
            let meant = writes.iter().zip(&apart).filter(|(write, is_apart)| write.changes() && is_meant(**is_apart));
            meant.map(|(write, _)| write.key()).collect::<Vec<_>>()
        };
        let (mut mirrored, mut alone) = (keys(&|is_apart| is_strict || !is_apart), keys(&|is_apart| !is_strict && is_apart));
        let fits = writes.len() + mirrored.len() + usize::from(!alone.is_empty()) <= MOST_ACTIONS;
        if !fits {
            (mirrored, alone) = (Vec::new(), keys(&|_| true));
        }

        let transaction = match lockstep.transaction(&homes, TOKEN) {
            Err(error) => {
                let waits = matches!(error, Error::Throttled { by: Throttle::Handover, .. });
                prop_assert!(is_strict && !fits && waits);
                return Ok(());
            }
            Ok(transaction) => transaction,
        };
        prop_assert!(fits || !is_strict);
        let (own, rest) = transaction.actions.split_at(writes.len());
        let (copies, repair) = rest.split_at(mirrored.len());
        prop_assert!(transaction.actions.len() <= MOST_ACTIONS && transaction.leading == own.len());
        prop_assert!(own.iter().all(|action| table(action) == &*leader.name && !is_marked(action)));
        prop_assert!(copies.iter().all(|action| table(action) == &*follower.name));
        prop_assert!(copies.iter().all(|action| is_marked(action) || action.delete.is_some()));
        prop_assert_eq!(copies.iter().map(|action| key(action, follower)).collect::<Vec<_>>(), mirrored);
        let changed = own.iter().zip(&transaction.is_mirrored).filter(|(_, is_mirrored)| **is_mirrored);
        prop_assert!(changed.map(|(action, _)| condition(action)).eq(copies.iter().map(condition)));
        if alone.is_empty() {
            prop_assert!(repair.is_empty());
        } else {
            let [repair] = repair else { return Err(TestCaseError::fail("one repair")) };
            let put = repair.put.as_ref().expect("a put");
            prop_assert_eq!(put.table_name(), &*leader.name);
            let repair: Repair = crate::read_item(put.item.clone()).expect("a repair");
            prop_assert_eq!(repair.keys.into_iter().map(Key::from).collect::<Vec<_>>(), alone);
        }
    }

    /// A difference of one item leaves a repair of that item alone: the others stay equal to their copies.
    #[test]
    fn a_difference_does_not_spread(writes in vec(0..5_u8, 1..20), differs in any::<proptest::sample::Index>()) {
        let writes: Vec<_> = writes.into_iter().enumerate().map(|(at, kind)| write(kind, at)).collect();
        let (differs, both) = (differs.index(writes.len()), [home(Layout::V1), home(Layout::V2)]);
        let homes = Homes { leader: &both[0], follower: Some(&both[1]), is_strict: false, beside: None };
        let mut lockstep = Lockstep::new(writes.clone());
        let first = lockstep.transaction(&homes, TOKEN).expect("a transaction");
        let mut causes = vec![Cause::None; first.actions.len()];
        causes[writes.len() + differs] = Cause::Condition(Some(crate::Item::new()));
        prop_assert_eq!(lockstep.cancelled(&first, causes), Verdict::Apart);
        let second = lockstep.transaction(&homes, TOKEN).expect("a transaction");
        let expected: Vec<_> = (0..writes.len()).map(|at| at != differs).collect();
        prop_assert_eq!(&second.is_mirrored, &expected);
        let repair = second.actions.last().and_then(|action| action.put.clone()).expect("a repair");
        let repair: Repair = crate::read_item(repair.item).expect("a repair");
        prop_assert_eq!(repair.keys.into_iter().map(Key::from).collect::<Vec<_>>(), [writes[differs].key()]);
    }

    /// Whatever the two tables hold, the sequence of transactions ends, and only the leader's own conditions refuse.
    #[test]
    fn an_update_ends_after_three_transactions(leader_has in any::<bool>(), follower_has in any::<bool>(), holds in any::<bool>()) {
        let both = [home(Layout::V1), home(Layout::V2)];
        let homes = Homes { leader: &both[0], follower: Some(&both[1]), is_strict: false, beside: None };
        let mut lockstep = Lockstep::new(vec![write(2, 0)]);
        let found = |exists: bool| Cause::Condition(exists.then(crate::Item::new));
        for sent in 1..=3 {
            let transaction = lockstep.transaction(&homes, TOKEN).expect("a transaction");
            let assumed = lockstep.assumed[0] == Existence::Present;
            let is_mirrored = transaction.is_mirrored == [true];
            let fails = |exists: bool| !holds || (is_mirrored && exists != assumed);
            let cause = |exists: bool| if fails(exists) { found(exists) } else { Cause::None };
            let causes = vec![cause(leader_has), if is_mirrored { cause(follower_has) } else { Cause::None }];
            if causes.iter().all(|cause| *cause == Cause::None) {
                prop_assert!(holds && (!is_mirrored || leader_has == follower_has));
                return Ok(());
            }
            match lockstep.cancelled(&transaction, causes) {
                Verdict::Cancelled(causes) => {
                    prop_assert!(!holds);
                    prop_assert_eq!(causes, vec![found(leader_has)]);
                    return Ok(());
                }
                Verdict::Again => prop_assert!(leader_has == follower_has),
                Verdict::Apart => prop_assert_eq!(&lockstep.is_apart, &[true]),
            }
            prop_assert!(sent < 3, "it goes on");
        }
    }
}
