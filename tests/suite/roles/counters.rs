//! The counters on the eventful day: counts that wait, and counters that are wrong.

use crate::prelude::*;

/// Two batches meet others. The first one is parked and folded, the second one is parked, and left to the comparison.
/// Returns the day of the first one.
pub async fn parked(shop: &Shop) -> String {
    shop.settle().await;
    let counting = |request: &Value| ["shard#", "day#"].iter().all(|key| request.to_string().contains(key));
    let order = async |customer: &str, key: &str| shop.customer(customer).order(key, things(1)).await.expect(201);
    // While a batch is counted, two customers order. So the next one counts both.
    let counted = commit().when(counting);
    shop.held(counted, order("ada", "alone"), async || (order("ada", "both").await, order("bob", "both").await)).await;
    shop.settle().await;
    shop.fault_proxy().inject(commit().when(counting), Fault::conflict(1), 2);
    let parked = order("ada", "parked").await;
    shop.settle().await;
    let of_lease = |request: &Value| request.to_string().contains("fold#");
    let refused = Fault::Refused { status: 400, exception: "AccessDeniedException" };
    shop.fault_proxy().inject(Match::action("PutItem").when(of_lease), refused, usize::MAX);
    order("ada", "left").await;
    shop.settle().await;
    shop.fault_proxy().heal();
    parked["placedAt"].as_str().expect("a time")[..10].to_owned()
}

/// Makes a counter of every kind wrong, that of a day with orders among them, repairs all of them, and runs the schedule.
pub async fn drifted(shop: &Shop, day: &str) {
    shop.settle().await;
    shop.add("c#ada", "stats", "orders", 3).await;
    shop.add("p#thing", "stats", "units", 5).await;
    shop.add(&format!("day#{day}"), "totals", "orders", 1).await;
    let report = shop.reconcile(true).await;
    assert_eq!(report["repaired"], 3, "{report}");
    shop.reconciler()(json!({ "source": "aws.events", "detail": {} })).await.expect("an answer");
}
