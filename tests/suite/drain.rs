//! The drain places each order once or refuses it with its reason, for any delivery of messages and any crash.

mod messages;
mod waiting;

use std::time::Instant;

use devstack::fault_proxy::Access;
use shop::queue::{DEAD_LETTERS, drain_source};
use shop::seed::{random, seeds};
use shop::set_everywhere;
use tokio::sync::OnceCell;

use crate::prelude::*;

/// The number of orders. Every fifth cannot be placed.
const ORDERS: u64 = 40;

/// A shop with an unlimited drain, and a visibility timeout of one second.
async fn fast_shop(is_draining: bool) -> Shop {
    shop(is_draining, "100000").await
}

async fn shop(is_draining: bool, units: &'static str) -> Shop {
    let shop = Shop::open_with(|template| {
        drain_source(template).enabled = is_draining;
        for queue in &mut template.queues {
            queue.visibility_timeout_seconds = 1;
        }
        set_everywhere(template, "DRAIN_WRITE_UNITS", units);
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10_000).await;
    shop.discount("TEN", 10, None).await;
    shop.gift_card("GIFT", 100_000).await;
    shop
}

/// The body of order number `number`. Every fifth names a product that does not exist; some spend a gift card, some
/// have a discount.
fn body(number: u64) -> Value {
    let product = if number % 5 == 4 { "nothing" } else { "thing" };
    let mut body = basket(product, 1 + number % 3);
    if number.is_multiple_of(2) {
        body["giftCards"] = json!(["GIFT"]);
    }
    if number.is_multiple_of(3) {
        body["discountCode"] = json!("TEN");
    }
    body
}

async fn accept_all(shop: &Shop) {
    let ada = shop.customer("ada");
    for number in 0..ORDERS {
        assert_eq!(order_later(&ada, &format!("order-{number}"), body(number)).await.status, 202);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_takes_the_time_that_its_write_units_need() {
    // 50 units a second for each of two environments.
    let shop = shop(false, "100").await;
    let ada = shop.customer("ada");
    // Its lines are larger than a kilobyte, so an order consumes more than the drain expects.
    let name = "\u{1f4a1}".repeat(200);
    let ids = ["one", "two", "three"];
    for id in ids {
        shop.create(id, json!({ "name": name })).await;
    }
    for number in 0..10 {
        let lines = ids.map(|id| json!({ "productId": id, "quantity": 1 }));
        let reply = order_later(&ada, &format!("order-{number}"), json!({ "lines": lines })).await;
        assert_eq!(reply.status, 202);
    }
    let records = shop.take_messages().await;
    shop.fault_proxy().take_calls();
    let begin = Instant::now();
    assert_eq!(shop.drain(&records).await["batchItemFailures"], json!([]));
    let elapsed = begin.elapsed();
    let calls = shop.fault_proxy().take_calls();
    let consumed = calls.iter().flat_map(|call| &call.consumed);
    let units: f64 =
        consumed.filter(|consumed| consumed.access == Access::Write).map(|consumed| consumed.table_units).sum();
    // The batch does not wait for what its last order consumed.
    assert!(elapsed.as_secs_f64() > units * 0.9 / 50.0, "{units} units in {elapsed:?}");
}

/// The table without times and ids of requests.
async fn timeless(shop: &Shop) -> Vec<Value> {
    fn forget(value: &mut Value) {
        match value {
            Value::String(text) if text.parse::<Timestamp>().is_ok() => "then".clone_into(text),
            Value::Array(values) => values.iter_mut().for_each(forget),
            Value::Object(fields) => {
                fields
                    .retain(|name, _| !["expiresAt", "requestId"].contains(&name.as_str()) && !name.starts_with("GSI"));
                fields.values_mut().for_each(forget);
            }
            _ => {}
        }
    }
    let mut items = shop.dump().await;
    items.iter_mut().for_each(forget);
    items
}

/// The table after each order was delivered once, without faults.
async fn table_without_faults() -> &'static Vec<Value> {
    static TABLE: OnceCell<Vec<Value>> = OnceCell::const_new();
    let deliver = async || {
        let shop = fast_shop(false).await;
        accept_all(&shop).await;
        for record in shop.take_messages().await {
            assert_eq!(shop.drain(&[record]).await, json!({ "batchItemFailures": [] }));
        }
        timeless(&shop).await
    };
    TABLE.get_or_init(deliver).await
}

/// The ids of the messages that a batch reports as failed.
fn undone(answer: &Value) -> Vec<String> {
    let failures = answer["batchItemFailures"].as_array().expect("failures").iter();
    failures.map(|failure| failure["itemIdentifier"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicated_and_reordered_messages_result_in_the_same_table_as_one_delivery_of_each() {
    let expected = table_without_faults().await;
    for seed in seeds(1) {
        let shop = fast_shop(false).await;
        accept_all(&shop).await;
        let mut random = fastrand::Rng::with_seed(seed);
        let messages = shop.take_messages().await;
        assert_eq!(messages.len(), usize::try_from(ORDERS).expect("a number"));
        let mut deliveries: Vec<Value> =
            messages.iter().flat_map(|message| vec![message.clone(); random.usize(1..=5)]).collect();
        random.shuffle(&mut deliveries);

        shop.fault_proxy().inject_share(Match::any(), Fault::CutAfter, 0.2, seed);
        shop.fault_proxy().inject_share(commit(), Fault::conflict(0), 0.1, seed + 1);
        // Several environments in parallel. Failed messages are delivered again.
        let drains: Vec<_> = (0..4).map(|_| shop.drainer()).collect();
        let mut left = deliveries;
        for round in 0.. {
            if left.is_empty() {
                break;
            }
            assert!(round < 1000, "{} deliveries are left", left.len());
            let mut running = Vec::new();
            for (at, batch) in left.chunks(7).enumerate() {
                running.push((drains[at % drains.len()](json!({ "Records": batch })), batch.to_vec()));
            }
            let mut again = Vec::new();
            for (answer, batch) in
                futures_util::future::join_all(running.into_iter().map(async |(run, batch)| (run.await, batch))).await
            {
                let undone = undone(&answer.expect("an answer"));
                again.extend(
                    batch.into_iter().filter(|record| undone.iter().any(|id| record["messageId"] == id.as_str())),
                );
            }
            left = again;
        }
        shop.fault_proxy().heal();
        assert_eq!(timeless(&shop).await, *expected, "seed {seed}");
        assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crashes_of_the_drain_result_in_the_same_table_as_one_delivery_of_each() {
    let expected = table_without_faults().await;
    let shop = fast_shop(true).await;
    // Delays, so that crashes happen in the middle of calls.
    shop.fault_proxy().inject_share(commit(), Fault::Delay(Duration::from_millis(40)), 1.0, 0);
    let accepting = accept_all(&shop);
    let mut random = random();
    let killing = async {
        for _ in 0..50 {
            tokio::time::sleep(Duration::from_millis(random.u64(20..120))).await;
            shop.kill("drain-writes");
        }
    };
    tokio::join!(accepting, killing);
    until("no message is left", async || shop.queued().await == 0).await;
    shop.fault_proxy().heal();
    assert_eq!(timeless(&shop).await, *expected);
    assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_without_a_rate_that_serves_the_largest_order_does_not_start() {
    let shop = Shop::open().await;
    for (units, why) in
        [("9", "DRAIN_WRITE_UNITS must be at least 5 for each of the DRAIN_CONCURRENCY"), ("none", "not \"none\"")]
    {
        let mut template = shop.template().clone();
        set_everywhere(&mut template, "DRAIN_WRITE_UNITS", units);
        let error = local::functions::start_all(&shop.endpoints(), &template).err().expect("a refusal");
        assert!(format!("{error:#}").contains(why), "{error:#}");
    }
}
