//! The `outcome` of a 503 says whether the request may have written: `none` is a guarantee.

use std::time::Duration;

use devstack::fault_proxy::{Call, Fault, Match};
use http_api::Kind;
use reqwest::Method;
use serde_json::{Value, json};
use shop::{Reply, Shop, eur};
use tokio::task::JoinSet;

/// The number of attempts that the SDK makes for one call.
const GIVE_UP: usize = 3;

/// The number of answers with each outcome.
#[derive(Debug, Default)]
struct Outcomes {
    none: usize,
    unknown: usize,
}

/// A writing request.
struct Ask {
    method: Method,
    path: String,
    header: (&'static str, &'static str),
    body: Value,
}

impl Ask {
    async fn send(&self, shop: &Shop) -> Reply {
        let Self { method, path, header, body } = self;
        let client = if path.starts_with("/products") { shop.admin() } else { shop.customer("ada") };
        client.send(method.clone(), path, &[*header], Some(body.to_string())).await
    }
}

/// A shop with an order, and requests with all kinds of writes: of one item, of several, after a read and before one.
async fn shop() -> (Shop, Vec<Ask>) {
    let impatient = |template: String| template.replace("Timeout: 15", "Timeout: 3");
    filled(Shop::open_from(impatient).await).await
}

async fn filled(shop: Shop) -> (Shop, Vec<Ask>) {
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let things = |quantity: u64| json!({ "lines": [{ "productId": "thing", "quantity": quantity }] });
    let order = shop.customer("ada").order("first", things(1)).await.expect(201);
    let order = order["orderId"].as_str().expect("an id").to_owned();
    let any = ("if-match", "*");
    let asks = [
        (Method::POST, "/orders".to_owned(), ("idempotency-key", "k"), things(2)),
        (Method::POST, format!("/orders/{order}/cancellation"), any, json!({})),
        (Method::PATCH, "/products/thing".to_owned(), any, json!({ "price": eur(900) })),
        (Method::PATCH, "/products/thing".to_owned(), any, json!({ "cells": 3 })),
        (Method::POST, "/products/thing/stock".to_owned(), any, json!({ "delta": 5 })),
        (Method::PUT, "/customers/ada/cart".to_owned(), ("prefer", "nothing"), things(1)),
        (Method::PATCH, "/customers/ada".to_owned(), any, json!({ "email": "new@example.com" })),
    ];
    let asks = asks.map(|(method, path, header, body)| Ask { method, path, header, body });
    (shop, asks.into())
}

fn beyond_the_quota() -> Fault {
    Fault::Throttle { reason: "TableWriteAccountLimitExceeded", resource: "the table".to_owned() }
}

/// Sends this request three times, so that its calls fail from the first, second or third on. Returns how often the
/// outcome was `none`, and how often `unknown`.
async fn fail(ask: usize, fault: Fault) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for healthy in 0..3 {
        let (shop, asks) = shop().await;
        let before = shop.dump().await;
        shop.fault_proxy().take_calls();
        shop.fault_proxy().inject(Match::any(), Fault::Delay(Duration::ZERO), healthy);
        shop.fault_proxy().inject(Match::any(), fault.clone(), usize::MAX);
        let reply = asks[ask].send(&shop).await;
        shop.fault_proxy().heal();
        if reply.status < 500 {
            continue;
        }
        let at = format!("{} {} after {healthy} calls, {fault:?}", asks[ask].method, asks[ask].path);
        let is_none = reply.body["outcome"] == "none";
        *(if is_none { &mut outcomes.none } else { &mut outcomes.unknown }) += 1;
        assert!(!is_none || shop.dump().await == before, "{at}: it wrote something and says that it did not");
        let reads = ["Query", "BatchGetItem", "TransactGetItems"];
        let may_have_written =
            |call: &Call| !reads.contains(&call.action.as_str()) && call.status.is_none_or(|status| status / 100 != 4);
        let calls = shop.fault_proxy().take_calls();
        assert!(!is_none || !calls.iter().any(may_have_written), "{at}: {calls:#?}");
    }
    outcomes
}

#[tokio::test]
async fn a_failed_request_with_outcome_none_has_written_nothing_whichever_call_failed() {
    let mut all = Outcomes::default();
    for ask in 0..shop().await.1.len() {
        // A few shops at a time: with more, functions would time out while the shops open.
        let mut failing = JoinSet::new();
        for fault in [Fault::CutBefore, Fault::CutAfter, Fault::InternalError, beyond_the_quota(), Fault::conflict(0)] {
            failing.spawn(fail(ask, fault));
        }
        for Outcomes { none, unknown } in failing.join_all().await {
            all.none += none;
            all.unknown += unknown;
        }
    }
    assert!(all.none > 20 && all.unknown > 10, "{all:?}");
}

#[tokio::test]
async fn a_write_whose_attempts_were_all_refused_has_outcome_none() {
    let (shop, asks) = shop().await;
    for ask in &asks {
        shop.fault_proxy().inject(
            Match::any().when(|request| request["TransactItems"].is_array()),
            beyond_the_quota(),
            GIVE_UP,
        );
        let reply = ask.send(&shop).await;
        shop.fault_proxy().heal();
        if reply.status != 200 {
            assert_eq!(reply.problem(Kind::Throttled)["outcome"], "none");
        }
    }
}

#[tokio::test]
async fn a_write_that_is_unanswered_and_then_throttled_has_outcome_unknown() {
    let (shop, asks) = filled(Shop::open().await).await;
    for fault in [Fault::CutAfter, Fault::InternalError] {
        let ask = asks.iter().find(|ask| ask.path.ends_with("/stock")).expect("an adjustment");
        shop.fault_proxy().inject(Match::action("TransactWriteItems"), fault, 1);
        shop.fault_proxy().inject(Match::action("TransactWriteItems"), beyond_the_quota(), GIVE_UP - 1);
        let problem = ask.send(&shop).await.problem(Kind::Throttled);
        assert_eq!((shop.fault_proxy().pending(), &problem["outcome"]), (0, &json!("unknown")));
    }
}

#[tokio::test]
async fn a_failed_read_has_outcome_none() {
    let (shop, _) = shop().await;
    for fault in [Fault::CutAfter, Fault::InternalError, beyond_the_quota()] {
        shop.fault_proxy().inject(Match::any(), fault, GIVE_UP);
        let problem = shop.nobody().get("/products/thing").await.problem(Kind::Throttled);
        assert_eq!(problem["outcome"], "none");
    }
}
