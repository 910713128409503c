//! The `outcome` of a 503 says whether the request may have written: `none` is a guarantee.

use devstack::fault_proxy::Call;
use futures_util::stream::{self, StreamExt as _};
use shop::seed::{long, random, sample};

use crate::prelude::*;

/// The number of attempts that the SDK makes for one call.
const GIVE_UP: usize = 3;

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
    let shop = Shop::open().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let things = |quantity: u64| basket("thing", quantity);
    let order = shop.customer("ada").order("first", things(1)).await.expect(201);
    let order = order_id(&order).to_owned();
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

/// Sends a request whose calls fail, but for this number of them at its begin. Returns whether it failed, and whether the
/// outcome was `none`.
async fn fail(ask: usize, fault: Fault, healthy: usize) -> Option<bool> {
    let (filled, asks) = shop().await;
    let shop = filled.hurried(3).await;
    let before = shop.dump().await;
    shop.fault_proxy().take_calls();
    shop.fault_proxy().inject(Match::any(), Fault::Delay(Duration::ZERO), healthy);
    shop.fault_proxy().inject(Match::any(), fault.clone(), usize::MAX);
    let reply = asks[ask].send(&shop).await;
    shop.fault_proxy().heal();
    if reply.status < 500 {
        return None;
    }
    let at = format!("{} {} after {healthy} calls, {fault:?}", asks[ask].method, asks[ask].path);
    let is_none = reply.body["outcome"] == "none";
    assert!(!is_none || shop.dump().await == before, "{at}: it wrote something and says that it did not");
    let reads = ["Query", "BatchGetItem", "TransactGetItems"];
    let may_have_written =
        |call: &Call| !reads.contains(&call.action.as_str()) && call.status.is_none_or(|status| status / 100 != 4);
    let calls = shop.fault_proxy().take_calls();
    assert!(!is_none || !calls.iter().any(may_have_written), "{at}: {calls:#?}");
    Some(is_none)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_request_with_outcome_none_has_written_nothing_whichever_call_failed() {
    let faults = [Fault::CutBefore, Fault::CutAfter, Fault::InternalError, beyond_the_quota(), Fault::conflict(0)];
    let asks = 0..shop().await.1.len();
    let cases =
        asks.flat_map(|ask| (0..faults.len()).flat_map(move |fault| (0..3).map(move |healthy| [ask, fault, healthy])));
    // Each pair of a request and a fault, and each pair of a request and a number of healthy calls.
    let pairs = |[ask, fault, healthy]: &[usize; 3]| vec![("fault", *ask, *fault), ("healthy", *ask, *healthy)];
    let cases = sample(&mut random(), cases.collect(), pairs);
    // A few shops at a time: each waits for its time limit.
    let failed = stream::iter(&cases).map(|[ask, fault, healthy]| fail(*ask, faults[*fault].clone(), *healthy));
    let outcomes: Vec<_> = failed.buffer_unordered(5).filter_map(async |outcome| outcome).collect().await;
    let none = outcomes.iter().filter(|is_none| **is_none).count();
    let all = format!("{none} of {} outcomes of {} requests are `none`", outcomes.len(), cases.len());
    eprintln!("{all}");
    // Which of them are in a sample, is a matter of chance.
    assert!(none > 0 && (long().is_none() || outcomes.len() > none), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
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

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_is_unanswered_and_then_throttled_has_outcome_unknown() {
    let (shop, asks) = shop().await;
    for fault in [Fault::CutAfter, Fault::InternalError] {
        let ask = asks.iter().find(|ask| ask.path.ends_with("/stock")).expect("an adjustment");
        shop.fault_proxy().inject(commit(), fault, 1);
        shop.fault_proxy().inject(commit(), beyond_the_quota(), GIVE_UP - 1);
        let problem = ask.send(&shop).await.problem(Kind::Throttled);
        assert_eq!((shop.fault_proxy().pending(), &problem["outcome"]), (0, &json!("unknown")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_read_has_outcome_none() {
    let (shop, _) = shop().await;
    for fault in [Fault::CutAfter, Fault::InternalError, beyond_the_quota()] {
        shop.fault_proxy().inject(Match::any(), fault, GIVE_UP);
        let problem = shop.nobody().get("/products/thing").await.problem(Kind::Throttled);
        assert_eq!(problem["outcome"], "none");
    }
}
