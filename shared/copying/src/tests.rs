//! Laws of the plan, the checksums, the batches and the steps.

#![allow(clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use key_schema::entity::{CopyProgress, CopyTask, ItemKey, Migration, Phase, Side};
use key_schema::layout::{COPIED, ENTITY_TYPE, EXPIRES_AT, Index, Key, REMOVED};
use key_schema::value::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use table::{AttributeValue, Item, Pair, WriteKind};

use crate::batches::batches;
use crate::item::{as_copy, is_expired, size};
use crate::plan::{Plan, plan, writes};
use crate::steps::{Facts, Obstacle};
use crate::{is_copied, same, sum};

fn any_value() -> impl Strategy<Value = AttributeValue> {
    let leaf = prop_oneof![
        "[a-c]{0,2}".prop_map(AttributeValue::S),
        (0..3_u8).prop_map(|number| AttributeValue::N(number.to_string())),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null(true)),
        vec("[a-c]", 1..3).prop_map(AttributeValue::Ss),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(AttributeValue::L),
            btree_map("[a-c]", inner, 0..3).prop_map(|map| AttributeValue::M(map.into_iter().collect())),
        ]
    })
}

fn any_item() -> impl Strategy<Value = Item> {
    btree_map("[a-c]{1,2}", any_value(), 0..4).prop_map(|attributes| attributes.into_iter().collect())
}

fn key() -> Key {
    Key { index: Index::Table, partition: "d#x".to_owned(), sort: "d#x".to_owned() }
}

fn any_pair() -> impl Strategy<Value = Pair> {
    let item = || proptest::option::of(any_item());
    (item(), item(), any::<u64>()).prop_map(|(first, next, mark)| {
        let next = next.map(|next| as_copy(&next, mark));
        Pair { key: key(), first, next }
    })
}

proptest! {
    /// Two items differ in their checksums if and only if they differ.
    #[test]
    fn items_are_the_same_if_and_only_if_their_attributes_are(one: bool, a in any_item(), b in any_item()) {
        let b = if one { a.clone() } else { b };
        prop_assert_eq!(same(&a, &b), sorted(&a) == sorted(&b));
        prop_assert_eq!(sum(&a) == sum(&b), sorted(&a) == sorted(&b));
    }

    #[test]
    fn the_mark_of_a_copy_is_no_difference(item in any_item(), marks: [u64; 2]) {
        prop_assert!(same(&item, &as_copy(&item, marks[0])));
        prop_assert!(same(&as_copy(&item, marks[1]), &as_copy(&item, marks[0])));
    }

    #[test]
    fn a_checksum_does_not_depend_on_the_order(items in vec(any_item(), 0..6), from in 0..6_usize) {
        let of = |items: &[Item]| items.iter().fold(key_schema::entity::Checksum::default(), |mut all, item| {
            all += sum(item);
            all
        });
        let mut rotated = items.clone();
        rotated.rotate_left(from.min(items.len()));
        prop_assert_eq!(of(&items), of(&rotated));
    }

    /// What a plan writes is a copy of the leading item or nothing, and every transaction checks the leading item first.
    #[test]
    fn every_plan_checks_the_leader_and_ends_with_a_copy_of_it(pair in any_pair(), leads: bool, mark: u64) {
        let leader = if leads { Side::First } else { Side::Next };
        let writes: Vec<_> = writes(&pair, leader, mark).into_iter().map(|(side, write)| (side, write.rendered())).collect();
        let (item, copy) = (pair.of(leader), pair.of(leader.other()));
        let Some([(checked, check), (written, write)]) = writes.first_chunk() else {
            prop_assert!(writes.is_empty() && plan(&pair, leader) == Plan::Equal);
            return Ok(());
        };
        prop_assert_eq!((*checked, check.kind, *written), (leader, WriteKind::Check, leader.other()));
        let condition = |write: &table::Rendered| write.condition.clone().expect("a condition");
        prop_assert_eq!(condition(check).contains("attribute_exists"), item.is_some());
        prop_assert_eq!(condition(write).contains("attribute_exists"), copy.is_some());
        match item {
            Some(item) => {
                prop_assert_eq!(write.kind, WriteKind::Put);
                prop_assert!(same(item, &write.item) && write.item.contains_key(COPIED));
            }
            None if copy.and_then(|copy| copy.get(COPIED)) == Some(&AttributeValue::S(REMOVED.to_owned())) => {
                prop_assert_eq!(write.kind, WriteKind::Delete);
            }
            None => prop_assert_eq!(&write.item[COPIED], &AttributeValue::S(REMOVED.to_owned())),
        }
    }

    #[test]
    fn batches_hold_every_item_once_and_fit_into_a_transaction(sizes in vec(1..400_000_usize, 0..60)) {
        let items = sizes.iter().enumerate().map(|(at, size)| {
            let text = AttributeValue::S("x".repeat(*size));
            (Key { sort: at.to_string(), ..key() }, Item::from([("text".to_owned(), text)]))
        });
        let items: Vec<_> = items.collect();
        let keys: Vec<_> = items.iter().map(|(key, _)| key.clone()).collect();
        let batches = batches(items);
        for batch in &batches {
            prop_assert!(batch.len() <= 25);
            prop_assert!(batch.len() == 1 || batch.iter().map(|(_, item)| size(item)).sum::<usize>() <= 2_000_000);
        }
        prop_assert_eq!(batches.into_iter().flatten().map(|(key, _)| key).collect::<Vec<_>>(), keys);
    }
}

/// An item whose equality does not depend on the order of sets.
fn sorted(item: &Item) -> BTreeMap<String, String> {
    fn text(value: &AttributeValue) -> String {
        match value {
            AttributeValue::Ss(texts) => {
                let mut texts = texts.clone();
                texts.sort();
                format!("{texts:?}")
            }
            AttributeValue::L(list) => format!("{:?}", list.iter().map(text).collect::<Vec<_>>()),
            AttributeValue::M(map) => format!("{:?}", sorted(map)),
            other => format!("{other:?}"),
        }
    }
    item.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

#[test]
fn the_items_of_the_migration_itself_are_not_copied() {
    let of = |kind: &str| is_copied(&Item::from([(ENTITY_TYPE.to_owned(), AttributeValue::S(kind.to_owned()))]));
    assert_eq!(
        ["migration", "repair", "copyProgress", "order", "streamCheckpoint"].map(of),
        [false, false, false, true, true]
    );
    assert!(is_copied(&Item::new()), "an item without a kind is still somebody's item");
}

#[test]
fn an_item_has_expired_from_its_second_on() {
    let now = Timestamp::now();
    let item = |second: i64| Item::from([(EXPIRES_AT.to_owned(), AttributeValue::N(second.to_string()))]);
    assert!(is_expired(&item(now.as_second()), now) && !is_expired(&item(now.as_second() + 1), now));
    assert!(!is_expired(&Item::new(), now));
}

const SETTLE: Duration = Duration::from_secs(40);

fn migration(phase: Phase, seconds_ago: u32) -> Facts {
    let since = Timestamp::now().minus_seconds(seconds_ago);
    Facts { migration: Some(Migration { phase, version: 7, since }), ..Facts::default() }
}

fn segments(task: CopyTask, number: u8) -> Vec<CopyProgress> {
    let now = Timestamp::now();
    let segment = |segment| CopyProgress {
        segment,
        segments: number,
        run: 1,
        task,
        migration_version: 7,
        leader: Side::First,
        scanned: Side::Next,
        last: None,
        pages: 3,
        is_done: true,
        items: 10,
        copied: 0,
        differences: 0,
        differing: vec![],
        sums: BTreeMap::new(),
        started_at: now,
        updated_at: now,
    };
    (0..number).map(segment).collect()
}

fn obstacles(facts: &Facts, to: Phase) -> Vec<Obstacle> {
    facts.obstacles(to, Timestamp::now(), SETTLE, true)
}

#[test]
fn every_step_waits_until_the_one_before_has_settled_and_no_step_leaves_the_line() {
    for from in Phase::ALL {
        for to in Phase::ALL {
            let found = obstacles(&migration(from, 10), to);
            if from.may_become(to) {
                assert!(matches!(found[0], Obstacle::Unsettled(left) if left.as_secs().abs_diff(30) <= 1), "{found:?}");
            } else {
                assert_eq!(found, [Obstacle::NoSuchStep(from, to)]);
            }
        }
    }
    assert_eq!(obstacles(&Facts::default(), Phase::Both), [], "nothing has to settle before the first step");
}

#[test]
fn the_first_step_needs_the_word_that_the_last_release_is_gone() {
    let found = Facts::default().obstacles(Phase::Both, Timestamp::now(), SETTLE, false);
    assert_eq!(found, [Obstacle::OldRelease]);
    let left = Facts { repairs_in_next: 1, ..Facts::default() };
    assert_eq!(obstacles(&left, Phase::Both), [Obstacle::RepairsDue(1)]);
}

#[test]
fn a_comparison_needs_a_whole_copy_of_this_phase() {
    let mut facts = migration(Phase::Both, 60);
    assert_eq!(obstacles(&facts, Phase::Compare), [Obstacle::NotCopied]);
    facts.segments = segments(CopyTask::Copy, 4);
    assert_eq!(obstacles(&facts, Phase::Compare), []);
    facts.segments[2].is_done = false;
    assert_eq!(obstacles(&facts, Phase::Compare), [Obstacle::Running(1)]);
    facts.segments.pop();
    assert_eq!(obstacles(&facts, Phase::Compare), [Obstacle::NotCopied], "a segment is missing");
    facts.segments = segments(CopyTask::Copy, 4);
    facts.segments[3].migration_version = 6;
    assert_eq!(obstacles(&facts, Phase::Compare), [Obstacle::NotCopied], "of an earlier phase");
}

#[test]
fn the_strict_phases_are_entered_from_either_side_only_without_differences_and_repairs() {
    for (from, to) in [(Phase::Compare, Phase::Handover), (Phase::NextLeads, Phase::Takeover)] {
        let mut facts = migration(from, 60);
        facts.segments = segments(CopyTask::Copy, 2);
        assert_eq!(obstacles(&facts, to), [Obstacle::NotCompared]);
        facts.segments = segments(CopyTask::Compare, 2);
        assert_eq!(obstacles(&facts, to), []);
        facts.segments[1].differences = 3;
        facts.segments[1].differing = vec![ItemKey { partition: "o#1".to_owned(), sort: "p#2".to_owned() }];
        (facts.repairs_in_first, facts.repairs_in_next) = (1, 2);
        let found = obstacles(&facts, to);
        assert!(matches!(&found[..], [Obstacle::Different(3, keys), Obstacle::RepairsDue(3)] if keys.len() == 1));
        assert!(found[0].to_string().contains("o#1 p#2"), "{}", found[0]);
    }
    for (from, to) in [(Phase::Handover, Phase::Takeover), (Phase::Takeover, Phase::Handover)] {
        let facts = Facts { repairs_in_next: 1, ..migration(from, 60) };
        assert_eq!(obstacles(&facts, to), [Obstacle::RepairsDue(1)], "the lead would pass over a repair");
    }
}

#[test]
fn the_way_back_needs_no_more_than_time() {
    use Phase::{Both, Compare, First, Handover, Next, NextLeads, Takeover};
    for (from, to) in [(Both, First), (Compare, Both), (Handover, Compare), (Takeover, NextLeads), (Next, NextLeads)] {
        assert_eq!(obstacles(&migration(from, 60), to), [], "{from:?} to {to:?}");
    }
}

#[test]
fn a_run_needs_a_phase_in_which_every_function_leaves_repairs() {
    let now = Timestamp::now();
    for phase in Phase::ALL {
        let runs = migration(phase, 60).obstacles_to_run(CopyTask::Copy, now, SETTLE).is_empty();
        assert_eq!(runs, phase.writes_both() && !phase.is_strict(), "{phase:?}");
        assert_ne!(migration(phase, 0).obstacles_to_run(CopyTask::Copy, now, SETTLE), []);
    }
}
