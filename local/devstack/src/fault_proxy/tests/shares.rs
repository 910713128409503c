//! Tests of random faults.

use super::{Bench, put};
use crate::fault_proxy::{Fault, Match};

const CALLS: usize = 40;

/// Makes many calls, and returns which of them failed.
async fn struck(bench: &Bench) -> Vec<bool> {
    bench.proxy.take_calls();
    for _ in 0..CALLS {
        _ = bench.call("PutItem", put("one")).await;
    }
    bench.proxy.take_calls().iter().map(|call| call.fault.is_some()).collect()
}

#[tokio::test]
async fn a_share_of_the_calls_fails_until_the_faults_are_removed() {
    let bench = Bench::start().await;
    bench.proxy.inject_share(Match::action("PutItem"), Fault::InternalError, 0.5, 1);
    assert_eq!(bench.proxy.pending(), 0, "it waits for no number of calls");
    let count = struck(&bench).await.into_iter().filter(|struck| *struck).count();
    assert!((CALLS / 4..CALLS * 3 / 4).contains(&count), "{count} of {CALLS}");
    assert!(!bench.exists("two").await, "a read does not match");

    bench.proxy.inject(Match::any(), Fault::InternalError, 5);
    bench.proxy.heal();
    assert_eq!(bench.proxy.pending(), 0);
    assert_eq!(struck(&bench).await, [false; CALLS]);
}

#[tokio::test]
async fn the_same_seed_fails_the_same_calls() {
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let bench = Bench::start().await;
        bench.proxy.inject_share(Match::any(), Fault::CutBefore, 0.5, seed);
        runs.push(struck(&bench).await);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

#[tokio::test]
async fn a_share_of_zero_fails_no_call_and_a_share_of_one_fails_every_call() {
    let bench = Bench::start().await;
    bench.proxy.inject_share(Match::any(), Fault::CutBefore, 0.0, 1);
    assert_eq!(struck(&bench).await, [false; CALLS]);
    bench.proxy.inject_share(Match::any(), Fault::InternalError, 1.0, 1);
    assert_eq!(struck(&bench).await, [true; CALLS], "who is spared by an older rule may suffer a younger one");
}
