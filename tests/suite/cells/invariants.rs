//! Invariants of cells for any interleaving of buyers, cancellations and admins, and for any outcome of their requests.

use fastrand::Rng;
use shop::cells::lay_out;
use shop::seed::seeds;

use super::{all_at_once, change, conserved, insist, order, shop, units};
use crate::prelude::*;

const ANY: (&str, &str) = ("if-match", "*");

const TAKES: Duration = Duration::from_millis(3);

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_fifty_buyers_gets_the_last_unit_whichever_cell_it_is_in() {
    for cell in [0, 5] {
        let shop = shop(1).await;
        let mut last = [0; 8];
        last[cell] = 1;
        lay_out(&shop, "thing", &last).await;
        shop.fault_proxy().hold_items(TAKES);
        let replies = all_at_once(&shop, (0..50).map(|at| (format!("k{at}"), things(1)))).await;
        shop.fault_proxy().hold_items(Duration::ZERO);
        assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
        for loser in replies.into_iter().filter(|reply| reply.status != 201) {
            assert_eq!(loser.problem(Kind::OutOfStock)["available"], 0);
        }
        assert_eq!(units(&shop).await, [0; 8]);
        conserved(&shop, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_for_all_units_succeed_whichever_cells_they_are_in() {
    // 36 buyers of 1 to 5 units want 108 units.
    for cells in [[108, 0, 0, 0, 0, 0, 0, 0], [1, 50, 2, 0, 3, 49, 1, 2], [14, 13, 14, 13, 14, 13, 14, 13]] {
        let shop = shop(108).await;
        lay_out(&shop, "thing", &cells).await;
        shop.fault_proxy().hold_items(TAKES);
        at_once(0..36, async |at| {
            order(&shop.customer("ada"), &format!("k{at}"), things([1, 5, 3, 2, 4, 3][at % 6])).await.expect(201)
        })
        .await;
        shop.fault_proxy().hold_items(Duration::ZERO);
        assert_eq!(units(&shop).await, [0; 8]);
        conserved(&shop, 108).await;
    }
}

/// Each of three buyers has at most two of nine units at any time, so three are always left for another order. They
/// go from cell to cell, also while an order adds them up.
#[tokio::test(flavor = "multi_thread")]
async fn units_that_change_cells_are_never_overlooked() {
    let shop = shop(9).await;
    let mut busy = JoinSet::new();
    for buyer in 0..3_u64 {
        let ada = shop.customer("ada");
        busy.spawn(async move {
            for at in 0..15 {
                let order = order(&ada, &format!("{buyer}-{at}"), things((buyer + at) % 2 + 1)).await.expect(201);
                ada.cancel(&order, json!({})).await.expect(200);
            }
        });
    }
    let (admin, greedy) = (shop.admin(), shop.customer("ada"));
    busy.spawn(async move {
        for cells in [3, 8, 1, 8, 5, 2, 8] {
            change(&admin, json!({ "cells": cells })).await.expect(200);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    // Three are always available. Nine often are not, so the order has to take a snapshot read.
    busy.spawn(async move {
        for at in 0..10 {
            let order = order(&greedy, &format!("greedy-{at}"), things(3)).await.expect(201);
            greedy.cancel(&order, json!({})).await.expect(200);
        }
    });
    busy.join_all().await;
    conserved(&shop, 9).await;
}

/// More transfers than fit into one transaction together with the order.
#[tokio::test(flavor = "multi_thread")]
async fn the_largest_order_is_placed_although_the_units_of_each_product_are_scattered() {
    let shop = Shop::with_ada().await;
    let mut lines = Vec::new();
    for at in 0..40 {
        let id = format!("p{at:02}");
        shop.create(&id, json!({ "price": eur(100), "stock": 3, "cells": 3 })).await;
        lines.push(json!({ "productId": id, "quantity": 3 }));
    }
    let order = shop.customer("ada").order("k", json!({ "lines": lines })).await.expect(201);
    assert_eq!(order["total"], eur(12_000));
    invariants::hold(&shop).await;
}

/// Places some orders, and cancels some of them. Returns the units that it keeps.
async fn buyer(ada: Client, name: u64, mut random: Rng) -> i64 {
    for at in 0..4 {
        let reply = order(&ada, &format!("{name}-{at}"), things(random.u64(1..=6))).await;
        if reply.status == 201 && random.bool() {
            let path = format!("/orders/{}/cancellation", order_id(&reply.body));
            insist(&ada, Method::POST, &path, ANY, json!({})).await.expect(200);
        } else if reply.status != 201 {
            reply.problem(Kind::OutOfStock);
        }
    }
    0
}

/// Changes the number of cells, the price and the stock. Returns the number of added units.
async fn admin(admin: Client, mut random: Rng) -> i64 {
    let mut arrived = 0;
    for _ in 0..8 {
        match random.u8(0..3) {
            0 => {
                let body = json!({ "cells": random.u8(1..=9) });
                insist(&admin, Method::PATCH, "/products/thing", ANY, body).await.expect(200);
            }
            1 => {
                let body = json!({ "price": eur(random.u64(1..1000)) });
                insist(&admin, Method::PATCH, "/products/thing", ANY, body).await.expect(200);
            }
            _ => {
                let version = admin.get("/products/thing").await.expect(200)["version"].to_string();
                let delta = *random.choice(&[-9, -4, -1, 2, 7, 11]).expect("one of them");
                let (path, body) = ("/products/thing/stock", json!({ "delta": delta }));
                let if_match = ("if-match", &*format!("\"{version}\""));
                let reply = insist(&admin, Method::POST, path, if_match, body).await;
                // Only this client changes the version. If it has changed, the request succeeded and its answer was lost.
                if [200, 412].contains(&reply.status) {
                    arrived += delta;
                } else {
                    reply.problem(Kind::OutOfStock);
                }
            }
        }
    }
    arrived
}

#[tokio::test(flavor = "multi_thread")]
async fn units_are_conserved_while_the_cells_change() {
    for seed in seeds(1) {
        let shop = shop(30).await;
        let mut random = Rng::with_seed(seed);
        shop.fault_proxy().inject_share(commit(), Fault::CutAfter, 0.1, seed);
        shop.fault_proxy().inject_share(commit(), Fault::CutBefore, 0.1, seed + 100);
        shop.fault_proxy().hold_items(TAKES);
        let mut busy = JoinSet::new();
        for name in 0..8 {
            busy.spawn(buyer(shop.customer("ada"), name, random.fork()));
        }
        busy.spawn(admin(shop.admin(), random.fork()));
        let arrived: i64 = busy.join_all().await.into_iter().sum();
        shop.fault_proxy().heal();
        shop.fault_proxy().hold_items(Duration::ZERO);
        conserved(&shop, 30_u64.checked_add_signed(arrived).expect("not below zero")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_gathering_was_cut_off_is_placed_once() {
    for (fault, times) in [(Fault::CutBefore, 1), (Fault::CutAfter, 1), (Fault::CutBefore, 3), (Fault::CutAfter, 3)] {
        // The transfers come first. With more faults than the client retries, the order's own commit is cut, too.
        for times in [times, times + 3] {
            let shop = shop(8).await;
            shop.fault_proxy().inject(commit(), fault.clone(), times);
            let order = shop.customer("ada").order("k", things(7)).await.expect(201);
            assert_eq!(shop.fault_proxy().pending(), 0, "{fault:?} x {times} did not happen");
            let again = shop.customer("ada").order("k", things(7)).await;
            assert_eq!(again.header("idempotent-replayed"), Some("true"));
            assert_eq!(again.expect(201), order);
            conserved(&shop, 8).await;
        }
    }
}
