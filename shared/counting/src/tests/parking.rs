//! Examples of parking counts and folding them.

use std::collections::HashSet;

use key_schema::entity::{Credit, Order, ParkedCounts};
use key_schema::layout::{MOST_ACTIONS, Stored};

use super::examples::{at, line, order, record};
use crate::{Batch, Change, Counts, Folding, MOST_COUNTERS, MOST_PARKED, Next, Step, Work};

/// The step of a batch of orders, each by its own customer.
fn parked(orders: u32, most_counters: usize) -> Step {
    let placed = |number: u32| {
        let customer_id = format!("customer-{number}").parse().expect("an id");
        record(&number.to_string(), Change::Placed(Order { customer_id, ..order("PENDING") }))
    };
    let mut batch = Batch::new((1..=orders).map(placed).collect(), None).with_most_counters(most_counters);
    batch.found(None);
    batch.park();
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    step
}

fn items(step: &Step) -> Vec<ParkedCounts> {
    step.parked(&"shardId-1".parse().expect("a shard"), at(0))
}

#[test]
fn a_parked_step_has_one_item_for_each_group_and_a_fold_adds_the_same_counts() {
    let step = parked(1000, 99);
    let items = items(&step);
    assert_eq!(items.len(), usize::from(ParkedCounts::GROUPS));
    let mut sum = Counts::default();
    for item in &items {
        let counts = Counts::from(item);
        assert!(counts.len() <= MOST_PARKED && counts.aggregates().all(|aggregate| aggregate.group() == item.group));
        sum.add(&counts);
    }
    assert_eq!(sum, step.counts);
    assert!(step.records > 99, "a parked step counts more than a step that is not parked: {}", step.records);
}

#[test]
fn a_step_that_is_not_parked_parks_nothing() {
    let mut batch = Batch::new(vec![record("1", Change::Line(line()))], None);
    batch.found(None);
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    assert_eq!(items(&step), Vec::new());
}

#[test]
fn a_fold_fits_into_a_transaction_even_while_each_write_is_done_in_both_tables() {
    let mut folding = Folding::of_everything(MOST_PARKED + 1);
    folding.listed(&items(&parked(1000, 99)));
    let mut folds = 0;
    while let Work::Fold(fold) = folding.next() {
        assert!(fold.counts.len() + fold.parked.len() <= 50, "{fold:?}");
        folds += 1;
        folding.folded(true);
    }
    assert_eq!(folds, ParkedCounts::GROUPS);
}

/// Whatever the number of its credits, what is parked of an imported order can be folded during a migration.
#[test]
fn a_large_record_is_parked_in_items_that_can_be_folded_in_both_tables() {
    for (credits, most) in (1..=200).flat_map(|credits| [(credits, 48), (credits, MOST_COUNTERS)]) {
        let credit = |at: u32| Credit {
            product_id: format!("product-{at}").parse().expect("an id"),
            units: 1,
            gross: 2,
            amount: 1,
        };
        let credits: Vec<_> = (0..credits).map(credit).collect();
        let is_large = credits.len() + 2 > most;
        let imported = Change::Imported(Order { credits, ..order("DELIVERED") });
        let batch = vec![record("1", imported), record("2", Change::Line(line()))];
        let mut batch = Batch::new(batch, None).with_most_counters(most);
        batch.found(None);
        let Next::Apply(step) = batch.next() else { panic!("a step") };
        let (items, mut sum) = (items(&step), Counts::default());
        for item in &items {
            let counts = Counts::from(item);
            assert!(counts.len() <= MOST_PARKED, "{} counters", counts.len());
            sum.add(&counts);
        }
        assert_eq!((step.parks, &sum), (is_large, if is_large { &step.counts } else { &sum }));
        assert!(is_large || step.counts.len() <= most);
        let keys: HashSet<_> = items.iter().map(Stored::key).collect();
        // The checkpoint and, in a replay, that of repairs are written as well.
        assert!(keys.len() == items.len() && items.len() + 2 <= MOST_ACTIONS / 2, "{} items", items.len());
    }
}

#[test]
fn a_fold_merges_the_counts_of_several_batches() {
    let mut folding = Folding::of_everything(100);
    let all: Vec<_> = (0..30).flat_map(|_| items(&parked(1, 99))).collect();
    let of_day: Vec<_> = all.into_iter().filter(|item| !item.days.is_empty()).collect();
    folding.listed(&of_day);
    let Work::Fold(fold) = folding.next() else { panic!("a fold") };
    let day = fold.counts.day("2026-11-21".parse().expect("a day"));
    assert_eq!((fold.parked.len(), day.orders), (30, 30));
}

#[test]
fn who_holds_the_lease_folds_the_counts_of_others_too_unless_the_time_is_over() {
    let items = items(&parked(1000, 20));
    let [own, rest @ ..] = items.as_slice() else { panic!("items") };
    for is_stopped in [false, true] {
        let mut folding = Folding::of([own.key()], 22);
        folding.looked(&[own.key()].into(), true);
        assert_eq!(folding.next(), Work::Take);
        folding.took(true);
        folding.listed(&items);
        if is_stopped {
            folding.stop();
        }
        let mut folded = Vec::new();
        while let Work::Fold(fold) = folding.next() {
            folded.extend(fold.parked);
            folding.folded(true);
        }
        let expected = if is_stopped { 1 } else { 1 + rest.len() };
        assert_eq!(folded.len(), expected, "{folded:?}");
        if !is_stopped {
            assert_eq!(folding.next(), Work::List, "there may be more by now");
            folding.listed(&[]);
        }
        assert_eq!(folding.next(), Work::Release);
        folding.released();
        assert_eq!(folding.next(), Work::Done);
    }
}

#[test]
fn a_batch_that_meets_others_once_is_tried_again_and_parked_the_second_time() {
    let mut batch = Batch::new(vec![record("1", Change::Line(line()))], None);
    batch.found(None);
    for parks in [false, true, true] {
        batch.met_another();
        assert_eq!(batch.parks(), parks);
        let Next::Apply(step) = batch.next() else { panic!("a step") };
        assert_eq!(step.parks, parks);
    }
}

#[test]
fn a_batch_folds_after_every_fourth_parked_step_and_at_its_end() {
    let placed = |number: u32| {
        let customer_id = format!("customer-{number}").parse().expect("an id");
        record(&number.to_string(), Change::Placed(Order { customer_id, ..order("PENDING") }))
    };
    let mut batch = Batch::new((1..=6).map(placed).collect(), None).with_most_counters(1);
    batch.found(None);
    batch.park();
    let mut requests = String::new();
    loop {
        match batch.next() {
            Next::Apply(step) => {
                batch.applied(step);
                requests.push('a');
            }
            Next::Fold => {
                batch.folded();
                requests.push('f');
            }
            Next::Done => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(requests.matches('f').count(), 1 + (requests.matches('a').count() - 1) / 4, "{requests}");
    assert!(!requests.contains("aaaaa") && requests.ends_with('f'), "{requests}");
}
