//! What orders from cells cost, and how many are in each other's way.

use std::fmt::Write as _;
use std::io::{Write as _, stderr};
use std::time::{Duration, Instant};

use http_api::Kind;
use local::fault_proxy::{Fault, Match};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{actions, adjust, all_at_once, change, conserved, in_cells, lay_out, order, shop, things, units};
use crate::shop::Shop;

/// An order's own cell is none of these in one of them at least.
const KEYS: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test(flavor = "multi_thread")]
async fn while_there_is_plenty_an_order_is_two_requests_as_of_any_product() {
    let shop = shop(1600).await;
    for key in KEYS {
        shop.customer("ada").order(key, things(2)).await.expect(201);
        assert_eq!(actions(&shop), ["BatchGetItem", "TransactWriteItems"]);
    }
    assert!(units(&shop).await.iter().filter(|units| **units < 200).count() > 1, "they took from different cells");
    conserved(&shop, 1600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_little_is_left_all_cells_are_read_before_one_is_taken_from() {
    let shop = shop(16).await;
    lay_out(&shop, "thing", &[0, 0, 0, 0, 16, 0, 0, 0]).await;
    for key in KEYS {
        shop.customer("ada").order(key, things(2)).await.expect(201);
        assert_eq!(actions(&shop), ["BatchGetItem", "BatchGetItem", "TransactWriteItems"]);
    }
    conserved(&shop, 16).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_is_empty_against_appearances_is_passed_over() {
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
async fn units_that_lie_scattered_are_gathered_for_an_order_of_more_than_any_cell_has() {
    let shop = shop(8).await;
    shop.customer("ada").order("k", things(7)).await.expect(201);
    let gathered = ["BatchGetItem", "BatchGetItem", "TransactWriteItems"];
    assert_eq!(actions(&shop), [gathered, gathered].concat());
    assert_eq!(units(&shop).await.iter().sum::<u64>(), 1);
    conserved(&shop, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_that_is_sold_out_in_all_cells_costs_its_disappointed_buyers_no_write() {
    let shop = shop(7).await;
    let problem = shop.customer("ada").order("k", things(8)).await.problem(Kind::OutOfStock);
    assert_eq!(problem["available"], 7);
    // A glance; then all cells twice; and that no copy of this order was faster.
    let (glance, proof) = (["BatchGetItem"; 2], ["BatchGetItem"; 3]);
    assert_eq!(actions(&shop), [&glance[..], &proof, &["TransactGetItems"]].concat());
    conserved(&shop, 7).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_for_another_reason_does_not_wait_until_nobody_buys() {
    let shop = shop(80).await;
    let mut order = things(1);
    order["discountCode"] = json!("UNKNOWN");
    shop.customer("ada").order("k", order).await.problem(Kind::DiscountInvalid);
    // Twice everything but the cells; and that no copy of this order was faster.
    assert_eq!(actions(&shop), ["BatchGetItem", "BatchGetItem", "TransactGetItems"]);
    conserved(&shop, 80).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_are_taken_out_of_a_busy_stock_without_waiting_until_nobody_buys() {
    let shop = shop(80).await;
    adjust(&shop.admin(), "*", -8).await.expect(200);
    assert_eq!(actions(&shop), ["BatchGetItem", "BatchGetItem", "TransactWriteItems"]);
    adjust(&shop.admin(), "*", -73).await.problem(Kind::OutOfStock);
    assert_eq!(actions(&shop), ["BatchGetItem"; 5]);
    conserved(&shop, 72).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rush_for_what_is_sold_out_may_lack_read_capacity_and_is_no_defect() {
    for code in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
        let shop = shop(0).await;
        let throttled = Fault::Cancel { item: 0, code, message: "Throughput exceeds the current capacity" };
        shop.fault_proxy().inject(Match::action("TransactGetItems"), throttled, 1);
        // Nobody knows what it would cost, so it cannot wait in the queue.
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
async fn an_order_that_was_on_its_way_when_the_cells_changed_is_not_refused() {
    for (before, after) in [(1, 8), (8, 1), (8, 3)] {
        let shop = Shop::with_ada().await;
        in_cells(&shop, 8, before).await.expect(201);
        let is_order = |request: &Value| request.to_string().contains("\"order\"");
        let late = Fault::Delay(Duration::from_millis(400));
        shop.fault_proxy().inject(Match::action("TransactWriteItems").when(is_order), late, 8);
        let ordering = tokio::spawn({
            let ada = shop.customer("ada");
            async move { ada.order("k", things(if before == 1 { 8 } else { 1 })).await }
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        change(&shop.admin(), json!({ "cells": after })).await.expect(200);
        ordering.await.expect("a reply").expect(201);
        shop.fault_proxy().heal();
        conserved(&shop, 8).await;
    }
}

/// Conflicts, and the time it took, of 100 orders of one product, 10 at a time, if a transaction takes so long.
async fn rush(cells: u8, takes: Duration) -> (usize, Duration) {
    let shop = Shop::with_ada().await;
    in_cells(&shop, 20_000, cells).await.expect(201);
    shop.fault_proxy().hold_items(takes);
    shop.fault_proxy().take_calls();
    let began = Instant::now();
    let mut buyers = JoinSet::new();
    for buyer in 0..10 {
        let ada = shop.customer("ada");
        buyers.spawn(async move {
            for at in 0..10 {
                order(&ada, &format!("{buyer}-{at}"), things(1)).await.expect(201);
            }
        });
    }
    buyers.join_all().await;
    let took = began.elapsed();
    let conflicts =
        shop.fault_proxy().take_calls().iter().filter(|call| matches!(call.fault, Some(Fault::Cancel { .. }))).count();
    shop.fault_proxy().hold_items(Duration::ZERO);
    conserved(&shop, 20_000).await;
    (conflicts, took)
}

/// `cargo test -p tests --test suite in_each_others_way -- --nocapture` tells the figures.
#[tokio::test(flavor = "multi_thread")]
async fn orders_from_many_cells_are_seldom_in_each_others_way() {
    let mut told = String::new();
    let mut conflicts = Vec::new();
    for cells in [1, 8, 32] {
        let (cancelled, took) = rush(cells, Duration::from_millis(10)).await;
        conflicts.push(cancelled);
        let rate = 100.0 / took.as_secs_f64();
        writeln!(told, "{cells} cells: {cancelled} transactions cancelled of 100 orders, {rate:.0} orders a second")
            .expect("a text");
    }
    _ = stderr().write_all(told.as_bytes());
    assert!(3 * conflicts[1] < 2 * conflicts[0] && 3 * conflicts[2] < conflicts[0], "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_meet_in_the_last_cells_are_served_all_the_same() {
    let shop = shop(8).await;
    shop.fault_proxy().hold_items(Duration::from_millis(5));
    let replies = all_at_once(&shop, (0..8).map(|at| (format!("k{at}"), things(1)))).await;
    assert!(replies.iter().all(|reply| reply.status == 201), "{replies:?}");
    shop.fault_proxy().hold_items(Duration::ZERO);
    assert_eq!(units(&shop).await, [0; 8]);
    conserved(&shop, 8).await;
}
