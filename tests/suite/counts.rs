//! The counts agree with the orders, for every way in which the stream's records are delivered.

pub mod book;
mod days;
mod many_shards;
mod schedule;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};

use book::Book;
use schedule::Delivery;
use shop::engine::{Feature, lacks};
use shop::seed::{long, seeds};
use shop::stream::{Tail, batch, is_wanted, number};

use crate::prelude::*;

/// The number of random schedules, unless the long form is asked for. Each has new shards, as if the old ones had been
/// split.
const SCHEDULES: u64 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn the_counts_agree_with_the_orders_for_any_delivery() {
    let shop = Shop::open().await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let counters = shop.counters();
    let (mut delivered, mut crashed, mut reported) = (0, 0, 0);
    let mut all = Vec::new();
    let seeds = seeds(SCHEDULES);
    for (number, seed) in (0_u64..).zip(seeds.clone()) {
        let mut rng = fastrand::Rng::with_seed(seed);
        book.write(&shop, &mut rng).await;
        let mut records = tail.new_records(&shop).await;
        // The filter saves invocations. The counts are right without it.
        if rng.u8(..4) != 0 {
            records.retain(is_wanted);
        }
        let shards = rng.usize(1..4);
        let mut deliveries: Vec<_> =
            (0..shards).map(|shard| Delivery::new(&counters, format!("shardId-{seed}-{shard}"), rng.fork())).collect();
        for record in records {
            // All records of an item are in one shard.
            let partition = record["dynamodb"]["Keys"]["PK"]["S"].as_str().expect("a key");
            deliveries[partition.bytes().map(usize::from).sum::<usize>() % shards].records.push(record);
        }
        for (every, fault) in [
            (11, Fault::CutAfter),
            (9, Fault::CutBefore),
            (3, Fault::conflict(0)),
            (7, Fault::Cancel { item: 0, code: "ProvisionedThroughputExceeded", message: "" }),
        ] {
            if number.is_multiple_of(every) {
                shop.fault_proxy().inject(commit(), fault, 1);
            }
        }
        for delivery in join_all(deliveries.into_iter().map(Delivery::everything)).await {
            delivered += delivery.invocations;
            crashed += delivery.crashes;
            reported += delivery.failures;
            all.push(delivery);
        }
        shop.fault_proxy().heal();
        book.check(&shop).await;
    }
    eprintln!("{delivered} invocations, {crashed} crashes, {reported} reported failures");
    // Of a few schedules, these numbers are a matter of chance.
    if let Some(schedules) = long().filter(|schedules| *schedules >= 100) {
        let least = usize::try_from(schedules).expect("few");
        assert!(delivered > 2 * least && crashed > least && reported > least / 40);
    }

    // Deliver all shards again from the beginning, eight at a time: nothing is counted twice, and nothing is written.
    let before = shop.dump().await;
    stream::iter(all).for_each_concurrent(8, Delivery::once_more).await;
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_laptop_s_event_source_delivers_every_relevant_record() {
    let shop = Shop::open_counted().await;
    let mut book = Book::open(&shop).await;
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..5 {
        book.write(&shop, &mut rng).await;
        shop.settle().await;
        book.check(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_costs_two_units_for_its_checkpoint_and_two_for_each_counter() {
    let shop = Shop::open().await;
    for customer in ["ada", "bob"] {
        shop.sign_up(customer).await;
    }
    for product in ["p0", "p1", "p2", "p3", "p4"] {
        shop.product(product, 100, 1000).await;
    }
    let (ada, bob) = (shop.customer("ada"), shop.customer("bob"));
    for order in 0..100_usize {
        let lines = [order, order + 1].map(|at| json!({ "productId": format!("p{}", at % 5), "quantity": 1 }));
        let customer = [&ada, &bob][order % 2];
        customer.order(&format!("k{order}"), json!({ "lines": lines })).await.expect(201);
    }
    let mut records = Tail::default().new_records(&shop).await;
    records.retain(is_wanted);
    assert_eq!(records.len(), 300, "a header and two lines each");

    shop.fault_proxy().take_calls();
    let answer = shop.count("shardId-0", &records).await;
    assert_eq!(answer["batchItemFailures"], json!([]));
    let checkpoint: Value =
        serde_json::from_str(answer["state"]["checkpoint"].as_str().expect("a text")).expect("JSON");
    assert_eq!(checkpoint["mark"], number(&records[299]));
    let spent = |calls: Vec<devstack::fault_proxy::Call>| -> Vec<(String, f64)> {
        let units =
            |call: &devstack::fault_proxy::Call| call.consumed.iter().map(devstack::fault_proxy::Consumed::units).sum();
        calls.iter().map(|call| (call.action.clone(), units(call))).collect()
    };
    // Two customers, five products and the days on which the orders were placed: one, or two around midnight.
    let days: BTreeSet<_> = records
        .iter()
        .map(|record| &record["dynamodb"]["NewImage"]["placedAt"]["S"].as_str().expect("a time")[..10])
        .collect();
    let counters = 2 + 5 + u32::try_from(days.len()).expect("few days");
    let read = ("BatchGetItem".to_owned(), 1.0);
    let written = ("TransactWriteItems".to_owned(), f64::from(2 + 2 * counters));
    let first = spent(shop.fault_proxy().take_calls());

    // A duplicate only reads the checkpoint.
    shop.count("shardId-0", &records).await;
    assert_eq!(spent(shop.fault_proxy().take_calls()), std::slice::from_ref(&read));
    if lacks(Feature::CapacityFigures) {
        return;
    }
    assert_eq!(first, [read, written]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_s_state_has_the_checkpoint_and_its_end_writes_nothing() {
    let shop = Shop::selling("cup", 350, 10).await;
    let order = basket("cup", 2);
    shop.customer("ada").order("k", order).await.expect(201);
    let records = Tail::default().new_records(&shop).await;
    let counter = shop.counter();
    // The order's own record is the first that is counted.
    let header = records.iter().position(|record| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order");
    let (begin, end) = records.split_at(header.expect("an order") + 1);
    let first = counter(batch("shardId-0", begin, &json!({}))).await.expect("an answer");
    shop.fault_proxy().take_calls();

    // With the state no read is needed, even in another environment.
    let rest = shop.counter()(batch("shardId-0", end, &first["state"])).await.expect("an answer");
    assert!(shop.fault_proxy().take_calls().iter().all(|call| call.action == "TransactWriteItems"));
    for state in [&rest["state"], &json!({})] {
        let end = shop.counter()(batch("shardId-0", &[], state)).await.expect("an answer");
        assert_eq!(end, json!({ "batchItemFailures": [], "state": state }));
    }
    assert_eq!(shop.fault_proxy().take_calls().len(), 0);
    let ada = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!(ada["stats"], json!({ "orders": 1, "spent": [eur(700)] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_without_a_shard_is_refused_unless_the_stream_always_has_one_shard() {
    let shop = Shop::open().await;
    let error = shop.counter()(json!({ "Records": [] })).await.expect_err("no shard");
    assert!(error.contains("TumblingWindowInSeconds") && error.contains("SINGLE_STREAM_SHARD"), "{error}");

    let single = Shop::open_with(|template| {
        let function = template.functions.iter_mut().find(|function| function.handler == "count-orders");
        let variables = &mut function.expect("the counter").environment;
        variables.insert("SINGLE_STREAM_SHARD".to_owned(), "shardId-only".to_owned());
    })
    .await;
    single.sign_up("ada").await;
    single.product("cup", 350, 10).await;
    single.customer("ada").order("k", basket("cup", 1)).await.expect(201);
    let records = Tail::default().new_records(&single).await;
    single.counter()(json!({ "Records": records })).await.expect("an answer");
    assert!(single.item("shard#shardId-only", "shard#shardId-only").await["mark"]["S"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_totals_spans_a_quarter_of_a_year_at_most() {
    let shop = Shop::open().await;
    let admin = shop.admin();
    let days = admin.get("/totals?from=2026-01-01&to=2026-01-03").await.expect(200);
    let nothing = |date: &str| json!({ "date": date, "orders": 0, "units": 0, "revenue": [], "statuses": [] });
    assert_eq!(days, json!({ "items": [nothing("2026-01-01"), nothing("2026-01-02")], "next": null }));
    let none: Value = admin.get("/totals?from=2026-01-01&to=2026-01-01").await.expect(200);
    assert_eq!(none["items"], json!([]));
    for query in [
        "",
        "?from=2026-01-01",
        "?to=2026-01-01",
        "?from=2026-01-01&to=2026-04-04",
        "?from=2026-01-02&to=2026-01-01",
        "?from=2026-01-01T00:00:00Z&to=2026-01-02",
        "?from=2026-01-01&to=2026-01-02&limit=5",
    ] {
        admin.get(&format!("/totals{query}")).await.problem(Kind::Validation);
    }
}
