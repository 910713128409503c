//! Recalled products: from the answer on, no order takes a unit, whatever it has read and whichever cell it uses.

use std::time::Instant;

use shop::cells::place;
use shop::queue::no_longer_queued;

use crate::prelude::*;

/// A shop with the customer ada and the product `thing` in so many cells.
async fn shop(units: u64, cells: u8) -> Shop {
    let shop = Shop::with_ada().await;
    shop.create("thing", json!({ "stock": units, "cells": cells })).await;
    shop.fault_proxy().take_calls();
    shop
}

async fn change(shop: &Shop, product: &str, change: Value) -> Reply {
    shop.admin().patch(&format!("/products/{product}"), "*", change.clone()).await
}

async fn recall(shop: &Shop, recalled: bool) -> Value {
    change(shop, "thing", json!({ "recalled": recalled })).await.expect(200)
}

fn of(products: &[&str]) -> Value {
    let lines: Vec<_> = products.iter().map(|product| json!({ "productId": product, "quantity": 1 })).collect();
    json!({ "lines": lines })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_recalled_products_is_refused_and_the_refusal_names_them() {
    let shop = shop(10, 1).await;
    shop.product("other", 500, 10).await;
    shop.product("fine", 100, 10).await;
    let ada = shop.customer("ada");
    let cart = Some(of(&["thing"]).to_string());
    let before = ada.order("before", of(&["thing", "fine"])).await.expect(201);

    assert_eq!(recall(&shop, true).await["recalled"], true);
    change(&shop, "other", json!({ "recalled": true, "price": eur(400) })).await.expect(200);
    let item = shop.item("p#thing", "stock").await;
    for path in ["/orders", "/quotes"] {
        let body = of(&["other", "fine", "thing"]);
        let refused = ada.post_once(path, "k", body).await;
        assert_eq!(refused.problem(Kind::ProductRecalled)["productIds"], json!(["other", "thing"]));
    }
    // Not as if too few units were left.
    let mut many = of(&["thing"]);
    many["lines"][0]["quantity"] = json!(1000);
    ada.order("many", many).await.problem(Kind::ProductRecalled);
    assert_eq!(shop.item("p#thing", "stock").await, item);

    // The product is shown, a cart may have it, and the order from before goes on.
    assert_eq!(shop.nobody().get("/products/thing").await.expect(200)["recalled"], true);
    ada.send(Method::PUT, "/customers/ada/cart", &[], cart).await.expect(200);
    assert_eq!(ada.read(&before).await["status"], before["status"]);
    ada.cancel(&before, json!({})).await.expect(200);
    assert_eq!(shop.available("thing").await, 10);

    // Other changes do not lift the recall.
    assert_eq!(change(&shop, "thing", json!({ "price": eur(900), "cells": 4 })).await.expect(200)["recalled"], true);
    ada.order("repriced", of(&["thing"])).await.problem(Kind::ProductRecalled);
    assert!(recall(&shop, false).await["recalled"].is_null());
    assert_eq!(ada.order("k", of(&["thing", "fine"])).await.expect(201)["total"], eur(1000));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_waits_when_its_product_is_recalled_is_refused() {
    let shop = shop(10, 1).await;
    let ada = shop.customer("ada");
    let hold = commit().when(|request| request.to_string().contains("\"order\""));
    shop.fault_proxy().inject(hold, Fault::conflict(0), usize::MAX);
    let waiting = order_later(&ada, "k", of(&["thing"])).await.expect(202);
    recall(&shop, true).await;
    shop.fault_proxy().heal();
    let rejected = no_longer_queued(&ada, &format!("/orders/{}", order_id(&waiting))).await;
    assert_eq!(rejected["status"], "REJECTED", "{rejected}");
    assert!(rejected.to_string().contains("product-recalled") && rejected.to_string().contains("thing"), "{rejected}");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cell_gives_a_unit_to_an_order_that_read_the_product_before_the_recall() {
    // Before the first change of the price, and after one.
    for (cells, is_repriced) in [(1, false), (8, false), (8, true)] {
        let shop = shop(100, cells).await;
        if is_repriced {
            change(&shop, "thing", json!({ "price": eur(900) })).await.expect(200);
        }
        let late = commit().when(|request| request.to_string().contains("\"order\""));
        let gate = shop.fault_proxy().hold(late, 16);
        let mut ordering = JoinSet::new();
        for at in 0..16 {
            let ada = shop.customer("ada");
            ordering.spawn(async move { ada.order(&format!("k{at}"), of(&["thing"])).await });
        }
        shop.until_taken().await;
        recall(&shop, true).await;
        gate.open();
        for refused in ordering.join_all().await {
            assert_eq!(refused.problem(Kind::ProductRecalled)["productIds"], json!(["thing"]));
        }
        assert_eq!(shop.available("thing").await, 100);
        shop.fault_proxy().heal();
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recall_that_was_cut_off_holds_for_new_orders_and_its_repetition_finishes_it() {
    let shop = shop(80, 8).await;
    shop.fault_proxy().inject(Match::action("UpdateItem"), Fault::CutBefore, usize::MAX);
    let problem = change(&shop, "thing", json!({ "recalled": true })).await.problem(Kind::Throttled);
    assert_eq!(problem["outcome"], "unknown");
    shop.fault_proxy().heal();
    for at in 0..8 {
        shop.customer("ada").order(&format!("k{at}"), of(&["thing"])).await.problem(Kind::ProductRecalled);
    }
    let again = shop.admin().patch("/products/thing", "\"1\"", json!({ "recalled": true })).await.expect(200);
    assert_eq!((&again["version"], &again["recalled"]), (&json!(2), &json!(true)));
    for cell in 0..8 {
        let [pk, sk] = place("thing", cell);
        assert_eq!(shop.item(&pk, &sk).await["priceVersion"]["N"], "2", "in cell {cell}");
    }
    invariants::hold(&shop).await;
}

/// While the product is recalled and the recall is lifted again and again, every order that is sent after the answer to a
/// recall, and answered before the recall is lifted, is refused.
#[tokio::test(flavor = "multi_thread")]
async fn no_order_within_a_recall_is_placed_however_often_it_is_lifted() {
    let shop = shop(1000, 4).await;
    let mut buyers = JoinSet::new();
    for buyer in 0..3 {
        let ada = shop.customer("ada");
        buyers.spawn(async move {
            let mut orders = Vec::new();
            for at in 0..25 {
                let sent = Instant::now();
                let reply = ada.order(&format!("{buyer}-{at}"), of(&["thing"])).await;
                orders.push((sent, Instant::now(), reply));
            }
            orders
        });
    }
    let mut recalls = Vec::new();
    while !buyers.is_empty() && recalls.len() < 12 {
        recall(&shop, true).await;
        let since = Instant::now();
        tokio::time::sleep(Duration::from_millis(fastrand::u64(20..200))).await;
        recalls.push((since, Instant::now()));
        recall(&shop, false).await;
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50))).await;
    }
    for (sent, answered, reply) in buyers.join_all().await.into_iter().flatten() {
        assert!([201, 409, 503].contains(&reply.status), "{reply:?}");
        if recalls.iter().any(|(since, until)| *since < sent && answered < *until) {
            reply.problem(Kind::ProductRecalled);
        }
    }
    invariants::hold(&shop).await;
}
