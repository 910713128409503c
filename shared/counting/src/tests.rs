//! The invariants of counting, checked over thousands of schedules of a stream, its consumers and the table.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod bounds;
mod deliver;
mod examples;
mod fold;
mod parking;
mod releases;
mod shop;
mod table;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

use deliver::{Deliveries, Hint};
use key_schema::entity::ParkedCounts;
use shop::{Act, Stream, any_act};
use table::{Bug, Fault};

#[derive(Clone, Debug)]
enum Event {
    /// A write in the shop.
    Act(Act),
    /// The stream's open shards are closed and replaced.
    Reshard,
    /// The event source delivers the next batch of a shard: the shard, the most records, and the consumer's hint.
    Deliver(usize, usize, Hint),
    /// Any batch of a shard is delivered: again, in part, longer, or from the beginning of the shard.
    Replay(usize, usize, usize, Hint),
    /// A consumer makes its next request, with this fault.
    Go(usize, Fault),
    /// A consumer crashes.
    Crash(usize),
    /// A consumer's transaction conflicts with another one, so it parks the rest of its batch.
    Park(usize),
    /// A transaction arrives after its consumer stopped waiting for the answer.
    Arrive(usize),
    /// A consumer that folds makes its next request, with this fault.
    Fold(usize, Fault),
    /// A consumer that folds has no more time for the counts of others.
    StopFolding(usize),
    CrashFolding(usize),
    /// Everything in a group is folded, without a lease.
    Sweep(u8),
    /// The lease of a group expires, although its holder still folds.
    ExpireLease(u8),
}

fn any_event() -> impl Strategy<Value = Event> {
    let hint = || prop_oneof![4 => Just(Hint::State), 1 => Just(Hint::None), 1 => any::<usize>().prop_map(Hint::Wrong)];
    let any_fault = || {
        prop_oneof![
            12 => Just(Fault::None),
            1 => Just(Fault::Failed),
            1 => Just(Fault::CutBefore),
            2 => Just(Fault::CutAfter),
            1 => Just(Fault::Late),
        ]
    };
    let (fault, folding_fault) = (any_fault(), any_fault());
    prop_oneof![
        8 => any_act().prop_map(Event::Act),
        1 => Just(Event::Reshard),
        4 => (any::<usize>(), 1..12_usize, hint()).prop_map(|(shard, size, hint)| Event::Deliver(shard, size, hint)),
        2 => (any::<usize>(), any::<usize>(), 0..12_usize, hint())
            .prop_map(|(shard, from, size, hint)| Event::Replay(shard, from, size, hint)),
        16 => (any::<usize>(), fault).prop_map(|(run, fault)| Event::Go(run, fault)),
        2 => any::<usize>().prop_map(Event::Crash),
        4 => any::<usize>().prop_map(Event::Park),
        12 => (any::<usize>(), folding_fault).prop_map(|(run, fault)| Event::Fold(run, fault)),
        1 => any::<usize>().prop_map(Event::StopFolding),
        1 => any::<usize>().prop_map(Event::CrashFolding),
        1 => any::<u8>().prop_map(Event::Sweep),
        1 => (0..ParkedCounts::GROUPS).prop_map(Event::ExpireLease),
        2 => any::<usize>().prop_map(Event::Arrive),
    ]
}

fn apply(event: Event, stream: &mut Stream, deliveries: &mut Deliveries) {
    match event {
        Event::Act(act) => stream.act(act),
        Event::Reshard => stream.reshard(),
        Event::Deliver(shard, size, hint) => deliveries.deliver(stream, shard, size, hint),
        Event::Replay(shard, from, size, hint) => {
            deliveries.replay(stream, shard, from, size, hint);
        }
        Event::Go(run, fault) => deliveries.go(stream, run, fault),
        Event::Crash(run) => deliveries.crash(run),
        Event::Park(run) => deliveries.park(run),
        Event::Fold(run, fault) => deliveries.folders.go(&mut deliveries.table, run, fault),
        Event::StopFolding(run) => deliveries.folders.stop(run),
        Event::CrashFolding(run) => deliveries.folders.crash(run),
        Event::Sweep(group) => deliveries.folders.sweep(group),
        Event::ExpireLease(group) => _ = deliveries.table.leases.remove(&group),
        Event::Arrive(which) => deliveries.table.arrive(which),
    }
}

proptest! {
    #![proptest_config(Config { max_shrink_iters: 20_000, ..Config::default() })]

    #[test]
    fn counters_and_parked_counts_are_always_the_sums_up_to_the_marks_and_finally_the_counters_those_over_the_orders(
        events in schedule(), most in prop_oneof![Just(7_usize), Just(crate::MOST_COUNTERS)],
    ) {
        check(events, most, None)?;
    }
}

fn schedule() -> impl Strategy<Value = Vec<Event>> {
    vec(any_event(), 1..160)
}

fn check(events: Vec<Event>, most: usize, bug: Option<Bug>) -> TestCaseResult {
    let (mut stream, mut deliveries) = (Stream::default(), Deliveries::new(most, bug));
    for event in events {
        let at = format!("{event:?}");
        apply(event, &mut stream, &mut deliveries);
        prop_assert_eq!(&deliveries.table.sum(), &stream.counts_up_to(&deliveries.table.marks), "after {}", at);
        for (shard, mark) in &deliveries.table.marks {
            for poison in stream.shards[*shard].poisons_up_to(mark) {
                let is_kept = deliveries.lost.contains(&(*shard, poison.clone()));
                prop_assert!(is_kept, "{} is neither counted nor in the queue", poison);
            }
        }
    }
    deliveries.deliver_everything(&stream);
    deliveries.fold_everything();
    prop_assert_eq!(&deliveries.table.counts, &stream.truth());
    for (at, shard) in stream.shards.iter().enumerate() {
        let poisons = shard.last().into_iter().flat_map(|last| shard.poisons_up_to(last));
        let poisons: Vec<_> = poisons.map(|number| (at, number.clone())).collect();
        let lost: Vec<_> = deliveries.lost.iter().filter(|(shard, _)| *shard == at).cloned().collect();
        prop_assert_eq!(lost, poisons, "exactly the unreadable records are given up");
    }
    let lost = deliveries.lost.len();

    // Every shard from its beginning, without a hint and with a wrong one: nothing is counted again.
    for hint in [Hint::None, Hint::Wrong(usize::MAX)] {
        deliveries.start_over(&stream, hint);
        prop_assert!(deliveries.table.parked.is_empty());
        prop_assert_eq!(&deliveries.table.counts, &stream.truth());
        prop_assert_eq!(deliveries.lost.len(), lost);
    }
    Ok(())
}

#[test]
fn every_known_bug_is_found() {
    for bug in Bug::ALL {
        let config = Config { max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
        let found = TestRunner::new(config).run(&schedule(), |events| check(events, 7, Some(bug)));
        assert!(found.is_err(), "{bug:?} breaks no invariant");
    }
}
