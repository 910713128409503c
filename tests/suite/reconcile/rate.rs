//! How many orders a second are compared, if each request takes as long as on a network.

use std::slice;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use shop::reconcile::{FAST, read_units, reconciled};
use shop::stream::{Tail, is_wanted};

use super::{Figures, NONE, figures};
use crate::prelude::*;

/// The orders that are placed. `COMPARED_ORDERS` sets another number of those that are measured.
const ORDERS: u32 = 128;
/// The latency of each request. The longer it is, the less the time of the engine and of a debug build matters:
/// `LATENCY_MILLIS` sets another one.
const LATENCY_MILLIS: u32 = 200;

/// The customers and the products of a shop with so many orders.
const fn customers_and_products(orders: u32) -> [u32; 2] {
    [orders / 8, orders / 32]
}

/// The counters of a shop with so many orders: the customers, the products, the day of the orders, and a day without orders.
fn counters(orders: u32) -> u64 {
    let [customers, products] = customers_and_products(orders);
    u64::from(customers + products + 2)
}

/// Places orders of two lines, and counts them. All customers and products have several.
async fn place_and_count(shop: &Shop, orders: u32) {
    let [customers, products] = customers_and_products(orders);
    for product in 0..products {
        shop.product(&format!("p{product}"), 100, 100_000).await;
    }
    let signing_up = stream::iter(0..customers).for_each_concurrent(8, async |customer| {
        shop.sign_up(&format!("c{customer}")).await;
    });
    signing_up.await;
    let orders = stream::iter(0..orders).for_each_concurrent(8, async |order| {
        let lines = [order % products, (order + 1 + order / products % (products - 1)) % products];
        let lines = lines.map(|product| json!({ "productId": format!("p{product}"), "quantity": 1 }));
        let customer = shop.customer(&format!("c{}", order % customers));
        let placed = customer.order(&format!("k{order}"), json!({ "lines": lines })).await.expect(201);
        if order % 5 == 0 {
            customer.cancel(&placed, json!({})).await.expect(200);
        }
    });
    orders.await;
    let mut records = Tail::default().new_records(shop).await;
    records.retain(is_wanted);
    for batch in records.chunks(100) {
        assert_eq!(shop.count("shardId-0", batch).await["batchItemFailures"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_orders_are_compared_at_the_same_time() {
    let chosen = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let latency = Duration::from_millis(chosen("LATENCY_MILLIS").unwrap_or(LATENCY_MILLIS).into());
    let orders = chosen("COMPARED_ORDERS").unwrap_or(ORDERS);
    let shop = Shop::open_with(|template| reconciled(template, 0, FAST)).await;
    place_and_count(&shop, orders).await;
    shop.fault_proxy().take_calls();
    shop.fault_proxy().inject(Match::any(), Fault::Delay(latency), usize::MAX);
    let began = Instant::now();
    let answer = shop.reconcile(false).await;
    let lasted = began.elapsed().as_secs_f64();
    shop.fault_proxy().heal();
    assert_eq!(figures(&answer), Figures { checked: counters(orders), ..NONE });
    let calls = shop.fault_proxy().take_calls();
    let requests = f64::from(u32::try_from(calls.len()).expect("few"));
    // How many latencies the comparison takes, of which each begins after the one before.
    let chain = lasted / latency.as_secs_f64();
    let at_five_milliseconds = f64::from(orders) / (chain * 0.005);
    eprintln!("{requests} requests in {chain:.0} latencies: at 5 ms {at_five_milliseconds:.0} orders a second");
    assert!(chain < requests / 4.0, "{requests} requests take {chain} latencies");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_reads_stay_within_the_configured_rate() {
    const RATE: u32 = 200;
    let shop = Shop::open_with(|template| reconciled(template, 0, RATE)).await;
    place_and_count(&shop, ORDERS).await;
    shop.fault_proxy().take_calls();
    let answer = shop.reconcile(false).await;
    assert_eq!(figures(&answer), Figures { checked: counters(ORDERS), ..NONE });
    let mut calls = shop.fault_proxy().take_calls();
    calls.sort_by_key(|call| call.at);
    let units: Vec<_> = calls.iter().map(|call| (call.at, read_units(slice::from_ref(call)))).collect();
    let (mut first, mut in_window) = (0, 0.0);
    for (at, consumed) in &units {
        in_window += consumed;
        while *at >= units[first].0 + Duration::from_secs(1) {
            in_window -= units[first].1;
            first += 1;
        }
        assert!(in_window <= f64::from(RATE) * 1.3, "{in_window} units in a second");
    }
    let all: f64 = units.iter().map(|(_, units)| units).sum();
    assert!(all > 2.0 * f64::from(RATE), "{all} units: too few to tell");
}
