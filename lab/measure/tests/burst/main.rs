//! A burst of orders far beyond the table's capacity, and its draining. This is a test program of its own because it
//! measures rates: other tests must not run beside it.
//!
//! `UPDATE_DOCS=1 cargo test -p measure --test burst` runs it at full length and draws docs/drain-rate.svg.
#![allow(unreachable_pub, reason = "a test binary has no outside")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "small numbers, for people to look at"
)]

mod plot;

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;
use devstack::fault_proxy::{WriteLimit, write_units_per_second};
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::{Value, json};
use shop::engine::{Feature, lacks};
use shop::queue::DEAD_LETTERS;
use shop::{Client, Shop};

/// The size of a burst: the capacity of the table and of the drain, in write units per second, and the number of
/// seconds for which ten times as much is requested.
#[derive(Clone, Copy)]
struct Size {
    capacity: f64,
    seconds: u32,
}

/// The size for every test run.
const SHORT: Size = Size { capacity: 200.0, seconds: 2 };

/// The size for the picture. The capacity is so small that a laptop can request ten times as much.
const FULL: Size = Size { capacity: 80.0, seconds: 30 };

/// The table's write units for an order of one line that is placed at once.
const ORDER: f64 = 8.0;

/// The write units for a queued order, including the check that it was not refused.
const DRAINED_ORDER: f64 = 10.0;

/// The time after the burst in which requests of the burst may still be throttled.
const SETTLING: Duration = Duration::from_secs(2);

/// The number of concurrent requests.
const CLIENTS: usize = 64;

/// The result of a burst.
struct Burst {
    /// The accepted orders: placed at once or queued.
    accepted: BTreeSet<String>,
    at_once: usize,
    lasted: Duration,
}

fn is_hopeless(number: u64) -> bool {
    number % 50 == 49
}

fn body(number: u64) -> Value {
    let product = if is_hopeless(number) { "nothing" } else { "thing" };
    json!({ "lines": [{ "productId": product, "quantity": 1 }] })
}

/// Requests ten times as many orders as the capacity allows, for this time, or as many as this machine can.
async fn offer(client: &Client, Size { capacity, seconds }: Size) -> Burst {
    let each_second = 10.0 * capacity / ORDER;
    let begin = Instant::now();
    let orders = 0..(each_second as u64) * u64::from(seconds);
    let replies = stream::iter(orders).map(async |number| {
        let due = begin + Duration::from_secs_f64(number as f64 / each_second);
        tokio::time::sleep_until(due).await;
        loop {
            let key = format!("order-{number}");
            // An order that cannot be placed is refused later, in the queue.
            let reply = if is_hopeless(number) {
                let headers = [("idempotency-key", key.as_str()), ("prefer", "respond-async")];
                client.send(Method::POST, "/orders", &headers, Some(body(number).to_string())).await
            } else {
                client.order(&key, body(number)).await
            };
            match reply.status {
                503 => tokio::time::sleep(Duration::from_millis(500)).await,
                status => return (status, reply.body["orderId"].as_str().map(str::to_owned)),
            }
        }
    });
    let replies: Vec<(u16, Option<String>)> = replies.buffer_unordered(CLIENTS).collect().await;
    let at_once = replies.iter().filter(|(status, _)| *status == 201).count();
    let accepted = replies.into_iter().filter(|(status, _)| [201, 202].contains(status)).filter_map(|(_, id)| id);
    Burst { accepted: accepted.collect(), at_once, lasted: begin.elapsed() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_drained_at_the_configured_rate_without_loss() {
    if lacks(Feature::CapacityFigures) {
        return;
    }
    let is_full = std::env::var_os("UPDATE_DOCS").is_some();
    let size = if is_full { FULL } else { SHORT };
    let capacity = size.capacity;
    let shop = Shop::open_with(|template| {
        for function in &mut template.functions {
            function.environment.insert("DRAIN_WRITE_UNITS".to_owned(), capacity.to_string());
        }
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 1_000_000).await;
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(capacity))).await;
    shop.fault_proxy().take_calls();

    let begin = Instant::now();
    let burst = offer(&shop.customer("ada"), size).await;
    let burst_end = Instant::now();
    while shop.queued().await > 0 {
        assert!(begin.elapsed() < Duration::from_mins(15), "{} orders still wait", shop.queued().await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let drained_in = burst_end.elapsed();
    let calls = shop.fault_proxy().take_calls();
    shop.fault_proxy().limit_writes(None).await;

    // No order is lost, and none is there twice.
    let items = shop.dump().await;
    let ids = |kind: &str, is: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        let those = items.iter().filter(|item| item["EntityType"]["S"] == kind && is(item));
        those.map(|item| item["orderId"]["S"].as_str().expect("an id").to_owned()).collect()
    };
    let placed = ids("order", &|_| true);
    let refused = ids("queuedOrder", &|item| item["refusal"].is_object());
    assert!(placed.is_disjoint(&refused));
    assert_eq!(&placed | &refused, burst.accepted);
    assert_eq!(shop.available("thing").await, 1_000_000 - u64::try_from(placed.len()).expect("few"));
    assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);

    // While there is a backlog, the consumption stays below the target and near it. The last second is incomplete.
    let seconds = write_units_per_second(&calls, shop.table(), burst_end);
    let draining = &seconds[1..seconds.len().max(2) - 2];
    let mean = draining.iter().sum::<f64>() / draining.len() as f64;
    eprintln!(
        "{} accepted in {:.1} s, {} of them placed at once, {} refused later; drained in {:.1} s, {mean:.1} of {capacity} units a second: {draining:?}",
        burst.accepted.len(),
        burst.lasted.as_secs_f64(),
        burst.at_once,
        refused.len(),
        drained_in.as_secs_f64(),
    );
    // On a busy machine answers are late, and count in the next second. None comes too early: from the beginning up to any
    // second there are no more units than the rate allows, and a few late orders of the burst.
    let mut sum = 0.0;
    for (second, units) in (1..).map(f64::from).zip(draining) {
        sum += units;
        assert!(sum <= capacity * second + 5.0 * DRAINED_ORDER, "{draining:?}");
    }
    let late = calls.iter().filter(|call| call.at > burst_end + SETTLING);
    let (throttled, all) = (late.clone().filter(|call| call.fault.is_some()).count(), late.count());
    if is_full {
        assert!(draining.iter().all(|units| *units <= capacity + 2.0 * DRAINED_ORDER), "{draining:?}");
        assert_eq!(throttled, 0, "the table never had too little for the drain");
        assert!(mean > 0.85 * capacity, "{mean}");
    } else {
        assert!(throttled * 50 <= all, "{throttled} of {all} calls: the table had too little for the drain");
        assert!(mean > 0.5 * capacity, "{mean}");
    }
    if is_full {
        plot::drain_rate(&write_units_per_second(&calls, shop.table(), begin), capacity, burst.lasted);
    }
}
