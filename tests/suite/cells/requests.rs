//! The requests of orders from cells, and the rate of conflicts between them.

use devstack::fault_proxy::Call;
use serde_json::Map;
use shop::cells::lay_out;

use super::{actions, adjust, change, conserved, in_cells, shop, units};
use crate::prelude::*;

/// Idempotency keys whose orders have different own cells.
const KEYS: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test(flavor = "multi_thread")]
async fn with_plenty_of_units_an_order_takes_two_requests() {
    let shop = shop(1600).await;
    for key in KEYS {
        shop.customer("ada").order(key, things(2)).await.expect(201);
        assert_eq!(actions(&shop), ["BatchGetItem", "TransactWriteItems"]);
    }
    assert!(units(&shop).await.iter().filter(|units| **units < 200).count() > 1, "they took from different cells");
    conserved(&shop, 1600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_few_units_left_all_cells_are_read_before_one_is_decremented() {
    let shop = shop(16).await;
    lay_out(&shop, "thing", &[0, 0, 0, 0, 16, 0, 0, 0]).await;
    for key in KEYS {
        shop.customer("ada").order(key, things(2)).await.expect(201);
        assert_eq!(actions(&shop), ["BatchGetItem", "BatchGetItem", "TransactWriteItems"]);
    }
    conserved(&shop, 16).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_turns_out_to_be_empty_is_skipped() {
    let shop = shop(1000).await;
    lay_out(&shop, "thing", &[1000, 0, 0, 0, 0, 0, 0, 0]).await;
    let mut costs = Vec::new();
    for key in KEYS {
        shop.customer("ada").order(key, things(2)).await.expect(201);
        costs.push(actions(&shop));
    }
    let lucky = vec!["BatchGetItem", "TransactWriteItems"];
    let unlucky = [lucky.clone(), vec!["BatchGetItem", "BatchGetItem", "TransactWriteItems"]].concat();
    assert!(costs.contains(&unlucky.iter().map(|&action| action.to_owned()).collect()), "{costs:?}");
    assert!(costs.iter().all(|cost| *cost == lucky || *cost == unlucky), "{costs:?}");
    conserved(&shop, 1000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scattered_units_are_gathered_for_an_order_larger_than_any_cell() {
    let shop = shop(8).await;
    shop.customer("ada").order("k", things(7)).await.expect(201);
    let gathered = ["BatchGetItem", "BatchGetItem", "TransactWriteItems"];
    assert_eq!(actions(&shop), [gathered, gathered].concat());
    assert_eq!(units(&shop).await.iter().sum::<u64>(), 1);
    conserved(&shop, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_for_a_sold_out_stock_writes_nothing() {
    let shop = shop(7).await;
    let problem = shop.customer("ada").order("k", things(8)).await.problem(Kind::OutOfStock);
    assert_eq!(problem["available"], 7);
    // An eventually consistent read, then all cells twice, and a check that no copy of this order was faster.
    let (eventual, proof) = (["BatchGetItem"; 2], ["BatchGetItem"; 3]);
    assert_eq!(actions(&shop), [&eventual[..], &proof, &["TransactGetItems"]].concat());
    conserved(&shop, 7).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_for_another_reason_does_not_wait_for_other_transactions() {
    let shop = shop(80).await;
    let mut order = things(1);
    order["discountCode"] = json!("UNKNOWN");
    shop.customer("ada").order("k", order).await.problem(Kind::DiscountInvalid);
    // An order with a code is read strongly at once. Then a check that no copy of this order was faster.
    assert_eq!(actions(&shop), ["BatchGetItem", "TransactGetItems"]);
    conserved(&shop, 80).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_stock_is_reduced_without_waiting_for_other_transactions() {
    let shop = shop(80).await;
    adjust(&shop.admin(), "*", -8).await.expect(200);
    assert_eq!(actions(&shop), ["BatchGetItem", "BatchGetItem", "TransactWriteItems"]);
    adjust(&shop.admin(), "*", -73).await.problem(Kind::OutOfStock);
    assert_eq!(actions(&shop), ["BatchGetItem"; 5]);
    conserved(&shop, 72).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_read_capacity_for_a_sold_out_product_is_throttling_and_not_a_defect() {
    for code in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
        let shop = shop(0).await;
        let throttled = Fault::Cancel { item: 0, code, message: "Throughput exceeds the current capacity" };
        shop.fault_proxy().inject(Match::action("TransactGetItems"), throttled, 1);
        // Its price is unknown, so the order cannot be queued.
        let problem = shop.customer("ada").order("k", things(1)).await.problem(Kind::Throttled);
        assert_eq!(problem["outcome"], "none");
        assert_eq!(shop.fault_proxy().pending(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_in_cells_is_read_in_two_requests_and_any_other_in_one() {
    let shop = shop(20).await;
    shop.nobody().get("/products/thing").await.expect(200);
    assert_eq!(actions(&shop), ["Query", "BatchGetItem"]);
    change(&shop.admin(), json!({ "cells": 1 })).await.expect(200);
    actions(&shop);
    shop.nobody().get("/products/thing").await.expect(200);
    assert_eq!(actions(&shop), ["Query"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_in_progress_while_the_cells_change_is_not_refused() {
    for (before, after) in [(1, 8), (8, 1), (8, 3)] {
        let shop = Shop::with_ada().await;
        in_cells(&shop, 8, before).await.expect(201);
        let is_order = |request: &Value| request.to_string().contains("\"order\"");
        let commit = commit().when(is_order);
        let (ada, admin) = (shop.customer("ada"), shop.admin());
        let ordering = ada.order("k", things(if before == 1 { 8 } else { 1 }));
        let change = async || change(&admin, json!({ "cells": after })).await.expect(200);
        shop.held(commit, ordering, change).await.0.expect(201);
        conserved(&shop, 8).await;
    }
}

/// The number of 100 orders that would meet another one if ten wrote at a time: their transactions have an item in common.
async fn meetings(cells: u8) -> usize {
    let shop = Shop::with_ada().await;
    in_cells(&shop, 20_000, cells).await.expect(201);
    shop.fault_proxy().take_calls();
    for at in 0..100 {
        shop.customer("ada").order(&format!("k{at}"), things(1)).await.expect(201);
    }
    let mut commits = shop.fault_proxy().take_calls();
    commits.retain(|call| call.action == "TransactWriteItems");
    let items = |call: &Call| -> Vec<String> {
        let writes = call.request["TransactItems"].as_array().into_iter().flatten().filter_map(Value::as_object);
        let written = writes
            .flat_map(Map::values)
            .map(|write| if write["Key"].is_null() { &write["Item"] } else { &write["Key"] });
        written.map(|item| format!("{} {}", item["PK"]["S"], item["SK"]["S"])).collect()
    };
    let mut meetings = 0;
    for ten in commits.chunks(10) {
        let mut seen = BTreeSet::new();
        for items in ten.iter().map(items) {
            meetings += usize::from(items.iter().any(|item| seen.contains(item)));
            seen.extend(items);
        }
    }
    conserved(&shop, 20_000).await;
    meetings
}

/// `cargo test -p tests --test suite in_each_others_way -- --nocapture` prints the figures.
#[tokio::test(flavor = "multi_thread")]
async fn orders_from_many_cells_are_seldom_in_each_others_way() {
    let [one, eight, many] = [meetings(1).await, meetings(8).await, meetings(32).await];
    let told = format!("of 100 orders meet another one: {one} with one cell, {eight} with 8, {many} with 32");
    eprintln!("{told}");
    assert!(one == 90 && 3 * eight < 2 * one && 3 * many < one, "{told}");
}
