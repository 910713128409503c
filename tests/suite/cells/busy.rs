//! A stock in many cells under load: some cell is always held by a transaction.

use devstack::fault_proxy::Gate;
use shop::cells::{lay_out, place};

use super::{adjust, change, conserved, in_cells, order, units};
use crate::prelude::*;

/// The probability that a cell is held by another transaction. With 32 cells, all are free once in 2,800 times.
const BUSY: f64 = 0.22;

/// Whether a transaction with these items conflicts with another one.
fn meets_others(request: &Value) -> bool {
    let items = request["TransactItems"].as_array();
    let cells = items.into_iter().flatten().filter(|item| {
        // A cell that is being created cannot be in another transaction.
        let text = item.to_string();
        item["Put"].is_null() && (text.contains("stock#") || text.contains("\"stock\""))
    });
    cells.map(|_| fastrand::f64()).any(|chance| chance < BUSY)
}

/// A shop with the product `thing` in 32 busy cells.
async fn busy_shop(units: u64) -> Shop {
    let shop = Shop::with_ada().await;
    in_cells(&shop, units, 32).await.expect(201);
    let proxy = shop.fault_proxy();
    proxy.take_calls();
    for action in ["TransactWriteItems", "TransactGetItems"] {
        proxy.inject(Match::action(action).when(meets_others), Fault::conflict(0), usize::MAX);
    }
    let is_cell = |request: &Value| request["Key"].to_string().contains("stock");
    proxy.inject_share(Match::action("UpdateItem").when(is_cell), Fault::Conflict, BUSY, 1);
    shop
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_stock_can_be_restocked_repriced_and_reduced() {
    let shop = busy_shop(3200).await;
    let admin = shop.admin();
    assert_eq!(adjust(&admin, "\"1\"", 6400).await.expect(200)["available"], 9600);
    assert_eq!(change(&admin, json!({ "price": eur(900) })).await.expect(200)["price"], eur(900));
    assert_eq!(adjust(&admin, "*", -9000).await.expect(200)["available"], 600);
    for at in 0..8 {
        let placed = order(&shop.customer("ada"), &format!("k{at}"), things(10)).await.expect(201);
        assert_eq!(placed["total"], eur(9000));
    }
    shop.fault_proxy().heal();
    conserved(&shop, 600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_for_too_much_of_a_busy_stock_is_refused() {
    let shop = busy_shop(64).await;
    let reply = shop.customer("ada").order("k", things(65)).await;
    assert_eq!(reply.problem(Kind::OutOfStock)["available"], 64);
    adjust(&shop.admin(), "*", -65).await.problem(Kind::OutOfStock);
    // All units: two in each cell.
    order(&shop.customer("ada"), "all", things(64)).await.expect(201);
    shop.fault_proxy().heal();
    conserved(&shop, 64).await;
}

async fn update(shop: &Shop, cell: usize, expression: &str, values: Value) {
    let [pk, sk] = place("thing", cell);
    shop.update(&pk, &sk, expression, &values).await;
}

/// DynamoDB applies a transaction item by item, and reads of single items do not wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn units_are_not_overlooked_while_half_a_transfer_is_visible() {
    let shop = Shop::with_ada().await;
    in_cells(&shop, 8, 8).await.expect(201);
    // The order adds the cells up several times. One of these reads is late, and the rest of the transfer comes before
    // it.
    let gate = Gate::closed();
    shop.fault_proxy().inject_after(2, Match::action("BatchGetItem"), Fault::Held(gate.clone()), 1);
    let half = |units: i64, mark: i64| json!({ ":u": { "N": units.to_string() }, ":m": { "N": mark.to_string() } });
    let transfer_units = "SET available = available + :u ADD transferred :m";
    update(&shop, 3, transfer_units, half(-1, 4711)).await;
    let ordering = tokio::spawn({
        let ada = shop.customer("ada");
        async move { ada.order("k", things(8)).await }
    });
    shop.until_taken().await;
    update(&shop, 5, transfer_units, half(1, -4711)).await;
    gate.open();
    ordering.await.expect("a reply").expect(201);
    conserved(&shop, 8).await;
}

/// Wrong marks of transfers must not prevent the answer `out-of-stock`.
#[tokio::test(flavor = "multi_thread")]
async fn orders_do_not_wait_for_marks_that_never_add_up() {
    let shop = Shop::with_ada().await;
    in_cells(&shop, 8, 8).await.expect(201);
    update(&shop, 3, "SET transferred = :m", json!({ ":m": { "N": "4711" } })).await;
    shop.customer("ada").order("k", things(9)).await.problem(Kind::OutOfStock);
    update(&shop, 3, "SET transferred = :m", json!({ ":m": { "N": "0" } })).await;
    conserved(&shop, 8).await;
}

/// The function may have stopped before the units were distributed.
#[tokio::test(flavor = "multi_thread")]
async fn repeating_the_change_distributes_the_units_of_a_stock_that_already_has_its_cells() {
    let shop = Shop::with_ada().await;
    in_cells(&shop, 30, 3).await.expect(201);
    let writes_product = |request: &Value| request.to_string().contains("\"SK\":{\"S\":\"p#thing\"}");
    let transaction = || commit();
    shop.fault_proxy().inject(transaction().when(writes_product), Fault::conflict(0), 1);
    shop.fault_proxy().inject(
        transaction().when(move |request| !writes_product(request)),
        Fault::conflict(0),
        usize::MAX,
    );
    let more = async || {
        let body = json!({ "cells": 5 });
        shop.admin().patch("/products/thing", "\"1\"", body).await.expect(200)
    };
    let first = more().await;
    shop.fault_proxy().heal();
    assert_eq!(units(&shop).await, [10, 10, 10, 0, 0]);
    assert_eq!(more().await, first);
    assert_eq!(units(&shop).await, [6; 5]);
    conserved(&shop, 30).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_price_of_the_first_cell_is_the_price_of_all_orders() {
    let shop = Shop::with_ada().await;
    in_cells(&shop, 80, 8).await.expect(201);
    shop.fault_proxy().inject(Match::action("UpdateItem"), Fault::CutBefore, usize::MAX);
    let problem = change(&shop.admin(), json!({ "price": eur(700) })).await.problem(Kind::Throttled);
    assert_eq!(problem["outcome"], "unknown");
    shop.fault_proxy().heal();
    // An order that read the old price and commits later.
    let price = |item: &Value| item["price"]["M"]["amount"]["N"].clone();
    let (first, other) = (shop.item("p#thing", "stock").await, shop.item("stock#thing#5", "stock#thing#5").await);
    assert_eq!([price(&first), price(&other)], ["700", "1000"]);
    for at in 0..24 {
        let placed = shop.customer("ada").order(&format!("k{at}"), things(1)).await.expect(201);
        assert_eq!(placed["total"], eur(700));
    }
    conserved(&shop, 80).await;
    // Repeating the change completes it.
    let again = shop.admin().patch("/products/thing", "\"1\"", json!({ "price": eur(700) })).await.expect(200);
    assert_eq!((&again["version"], &again["price"]), (&json!(2), &eur(700)));
    lay_out(&shop, "thing", &[7; 8]).await;
    for cell in 1..8 {
        let [pk, sk] = place("thing", cell);
        assert_eq!(price(&shop.item(&pk, &sk).await), "700", "in cell {cell}");
    }
}
