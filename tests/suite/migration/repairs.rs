//! Repairs by the function of the stack, some of which fail.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use key_schema::entity::{CopyTask, ItemKey, Phase};
use tokio::time::Instant;

use super::MigratingShop;
use super::copying::{Operator, copied_shop};
use super::functions::{leave_repair, make_stale};
use crate::prelude::*;

/// More than are read at once.
const FAILING: usize = 30;

/// A shop in which this many repairs, which always fail, are due before one that can be carried out. All are in one shard.
async fn clogged() -> MigratingShop {
    let (migrating, _) = copied_shop().await;
    for _ in 0..FAILING {
        // DynamoDB refuses an empty key.
        let nothing = ItemKey { partition: String::new(), sort: String::new() };
        leave_repair(&migrating, Phase::Both, 5, vec![nothing]).await;
    }
    let keys = make_stale(&migrating, Phase::Both).await.into();
    tokio::time::sleep(Duration::from_millis(2)).await;
    leave_repair(&migrating, Phase::Both, 5, keys).await;
    assert_eq!(migrating.differences().await.len(), 3);
    migrating
}

#[tokio::test(flavor = "multi_thread")]
async fn repairs_that_always_fail_hold_up_none_that_come_after_them() {
    let migrating = clogged().await;
    let repair = migrating.shop.consumer("repair-copies", &migrating.shop.endpoints());
    let report = repair(json!({})).await.expect("a report");
    assert_eq!((&report["repairs"], &report["items"]), (&1.into(), &3.into()), "{report}");
    assert_eq!((&report["failed"], &report["done"]), (&FAILING.into(), &true.into()), "{report}");
    assert!(report["oldest"].as_u64().is_some_and(|seconds| seconds < 60), "{report}");
    assert!(migrating.differences().await.is_empty());
    let report = repair(json!({})).await.expect("a report");
    assert_eq!((&report["repairs"], &report["failed"]), (&0.into(), &FAILING.into()), "{report}");
}

/// Each round is cut off after some steps, long before it has tried those that fail.
#[tokio::test(flavor = "multi_thread")]
async fn a_round_goes_on_where_the_one_before_was_cut_off() {
    const STEPS: usize = 12;
    let migrating = clogged().await;
    let mut repairs = Operator::of(&migrating).repairs();
    let (mut rounds, mut whole) = (0, 0);
    while !migrating.differences().await.is_empty() {
        let mut round = pin!(repairs.round(Instant::now() + Duration::from_mins(1)));
        let mut steps = 0;
        let is_whole = poll_fn(|context| {
            steps += 1;
            match round.as_mut().poll(context) {
                Poll::Ready(outcome) => Poll::Ready(outcome.is_ok()),
                Poll::Pending if steps == STEPS => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }
        });
        whole += usize::from(is_whole.await);
        rounds += 1;
        assert!(rounds < 300, "it always begins at the front");
    }
    assert!(rounds > 3 && whole == 0, "{rounds} rounds, {whole} of which were not cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_functions_at_once_do_no_harm() {
    let (migrating, _) = copied_shop().await;
    for shard in 0..8 {
        let keys = make_stale(&migrating, Phase::Both).await.into();
        leave_repair(&migrating, Phase::Both, shard, keys).await;
    }
    let endpoints = migrating.shop.endpoints();
    let [one, other] = [(); 2].map(|()| migrating.shop.consumer("repair-copies", &endpoints)(json!({})));
    let (one, other) = tokio::join!(one, other);
    for report in [one, other] {
        assert_eq!(report.expect("a report")["failed"], 0);
    }
    assert!(migrating.differences().await.is_empty());
    assert!(migrating.repairs().await.iter().all(BTreeSet::is_empty));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_knows_the_repairs_that_come_after_many_others() {
    /// More than a comparison reads at once.
    const DUE: usize = 101;
    let (migrating, operator) = copied_shop().await;
    operator.step_when_repaired(Phase::Compare).await;
    for _ in 0..DUE {
        leave_repair(&migrating, Phase::Compare, 5, Vec::new()).await;
    }
    let keys = make_stale(&migrating, Phase::Compare).await.into();
    let differences = async || -> u64 {
        let segments = operator.run(CopyTask::Compare).await;
        segments.iter().map(|segment| segment.differences).sum()
    };
    assert_eq!(differences().await, 3, "no repair is due for them");
    tokio::time::sleep(Duration::from_millis(2)).await;
    leave_repair(&migrating, Phase::Compare, 5, keys).await;
    assert_eq!(differences().await, 0);
}
