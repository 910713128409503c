//! The drain: whatever way messages are delivered, and wherever it dies, each order is placed once or refused with
//! its reason.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use key_schema::value::Timestamp;
use local::wire::{Fault, Match, WriteLimit};
use serde_json::{Value, json};

use crate::queue::{order_later, things};
use crate::shop::{Shop, eur};
use crate::shop_queue::{DEAD_LETTERS, QUEUE};

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// Orders of which every fifth cannot be placed.
const ORDERS: u64 = 40;

/// A shop whose drain is as fast as it can be, and whose queue hides what was received for a second only.
async fn fast_shop(is_draining: bool) -> Shop {
    shop(is_draining, "100000").await
}

async fn shop(is_draining: bool, units: &'static str) -> Shop {
    let shop = Shop::open_with(|template| {
        template.queue_sources[0].enabled = is_draining;
        for queue in &mut template.queues {
            queue.visibility_timeout_seconds = 1;
        }
        for function in &mut template.functions {
            function.environment.insert("DRAIN_WRITE_UNITS".to_owned(), units.to_owned());
        }
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
    let mut body = json!({ "lines": [{ "productId": product, "quantity": 1 + number % 3 }] });
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

/// What the table says, apart from when.
async fn timeless(shop: &Shop) -> Vec<Value> {
    fn forget(value: &mut Value) {
        match value {
            Value::String(text) if text.parse::<Timestamp>().is_ok() => "then".clone_into(text),
            Value::Array(values) => values.iter_mut().for_each(forget),
            Value::Object(fields) => {
                fields.retain(|name, _| name != "expiresAt" && !name.starts_with("GSI"));
                fields.values_mut().for_each(forget);
            }
            _ => {}
        }
    }
    let mut items = shop.dump().await;
    items.iter_mut().for_each(forget);
    items
}

/// The table after each order was delivered once, with nothing in the way.
async fn as_it_should_be() -> Vec<Value> {
    let shop = fast_shop(false).await;
    accept_all(&shop).await;
    for record in shop.take_messages().await {
        assert_eq!(shop.drain(&[record]).await, json!({ "batchItemFailures": [] }));
    }
    timeless(&shop).await
}

/// The messages that a batch leaves undone.
fn undone(answer: &Value) -> Vec<String> {
    let failures = answer["batchItemFailures"].as_array().expect("failures").iter();
    failures.map(|failure| failure["itemIdentifier"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn however_often_and_in_whatever_order_messages_come_the_table_is_that_of_one_delivery_each() {
    let expected = as_it_should_be().await;
    for seed in 0..3 {
        let shop = fast_shop(false).await;
        accept_all(&shop).await;
        let mut random = fastrand::Rng::with_seed(seed);
        let messages = shop.take_messages().await;
        assert_eq!(messages.len(), usize::try_from(ORDERS).expect("a number"));
        let mut deliveries: Vec<Value> =
            messages.iter().flat_map(|message| vec![message.clone(); random.usize(1..=5)]).collect();
        random.shuffle(&mut deliveries);

        shop.wire().inject_share(Match::any(), Fault::CutAfter, 0.2, seed);
        shop.wire().inject_share(Match::action("TransactWriteItems"), Fault::conflict(0), 0.1, seed + 1);
        // Several environments at once, and what one leaves undone is delivered again.
        let drains: Vec<_> = (0..4).map(|_| shop.drainer()).collect();
        let mut left = deliveries;
        let begin = Instant::now();
        while !left.is_empty() {
            assert!(begin.elapsed() < PATIENCE, "{} deliveries are left", left.len());
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
        shop.wire().heal();
        assert_eq!(timeless(&shop).await, expected, "seed {seed}");
        assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_the_drain_dies_the_table_is_that_of_one_delivery_each() {
    let expected = as_it_should_be().await;
    let shop = fast_shop(true).await;
    // So that there is something to die in the middle of.
    shop.wire().inject_share(Match::action("TransactWriteItems"), Fault::Delay(Duration::from_millis(40)), 1.0, 0);
    let accepting = accept_all(&shop);
    let mut random = fastrand::Rng::with_seed(100);
    let killing = async {
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(random.u64(20..120))).await;
            shop.kill("drain-writes");
        }
    };
    tokio::join!(accepting, killing);
    let begin = Instant::now();
    while shop.queued().await > 0 {
        assert!(begin.elapsed() < PATIENCE, "{} messages are left", shop.queued().await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    shop.wire().heal();
    assert_eq!(timeless(&shop).await, expected);
    assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_a_dead_letter_with_its_reason_and_harms_nobody() {
    let shop = fast_shop(true).await;
    let ada = shop.customer("ada");
    let poison = [
        ("not JSON".to_owned(), "it is no order: "),
        (json!({ "customerId": "ada" }).to_string(), "it is no order: missing field"),
    ];
    for (body, _) in &poison {
        shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": body })).await;
    }
    order_later(&ada, "k", things(1)).await;
    until(async || shop.queued().await == 0).await;
    assert_eq!(ada.get("/customers/ada/orders").await.expect(200)["items"].as_array().map(Vec::len), Some(1));

    let dead = shop.take_from(DEAD_LETTERS).await;
    let reasons: BTreeMap<&str, &str> = dead
        .iter()
        .map(|letter| {
            (
                letter["body"].as_str().expect("a body"),
                letter["messageAttributes"]["reason"]["stringValue"].as_str().expect("a reason"),
            )
        })
        .collect();
    assert_eq!(reasons.len(), poison.len());
    for (body, reason) in &poison {
        assert!(reasons[body.as_str()].starts_with(reason), "{body}: {}", reasons[body.as_str()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_newer_release_sent_waits_for_it_for_a_day() {
    let shop = fast_shop(false).await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(1)).await;
    let message = shop.take_messages().await.remove(0);
    let order: Value = serde_json::from_str(message["body"].as_str().expect("a body")).expect("JSON");
    let mut with_news = order.clone();
    with_news["request"]["wrapping"] = json!("paper");
    for body in [json!({ "version": 2, "order": order }), with_news] {
        let mut newer = message.clone();
        newer["body"] = json!(body.to_string());
        // In a rolling deployment, and after a rollback that lasts for most of a day.
        for hours in [0, 23] {
            let sent_at = (Timestamp::now().as_second() - hours * 3600) * 1000;
            newer["attributes"]["SentTimestamp"] = json!(sent_at.to_string());
            assert_eq!(undone(&shop.drain(std::slice::from_ref(&newer)).await).len(), 1);
            assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);
        }
        newer["attributes"]["SentTimestamp"] = json!(((Timestamp::now().as_second() - 25 * 3600) * 1000).to_string());
        assert_eq!(undone(&shop.drain(std::slice::from_ref(&newer)).await).len(), 0);
        let dead = shop.take_from(DEAD_LETTERS).await.remove(0);
        assert_eq!(dead["body"], newer["body"]);
        let reason = dead["messageAttributes"]["reason"]["stringValue"].as_str().expect("a reason");
        assert!(reason.starts_with("this release cannot read it"), "{reason}");
    }
    // The release that can read it places it.
    shop.drain(&[message]).await;
    let path = reply.header("location").expect("a location").to_owned();
    assert_eq!(ada.get(&path).await.expect(200)["status"], "PENDING");
}

/// The order is the one that was accepted, whatever the canonical form of a request has become since.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_placed_under_the_hash_that_it_was_accepted_with() {
    let shop = fast_shop(false).await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(1)).await;
    let path = reply.header("location").expect("a location").to_owned();
    let mut message = shop.take_messages().await.remove(0);
    let other = "A".repeat(43);
    let accepted_as = json!({
        "TableName": shop.table(),
        "Key": { "PK": { "S": format!("o#{}", path.trim_start_matches("/orders/")) }, "SK": { "S": "queued" } },
        "UpdateExpression": "SET requestHash = :other",
        "ExpressionAttributeValues": { ":other": { "S": other } },
    });
    shop.dynamodb("UpdateItem", &accepted_as).await;

    // Its message says another: that is a defect, and a dead letter. The customer is told of the delay.
    message["messageAttributes"]["ofANewerRelease"] = json!({ "stringValue": "stays", "dataType": "String" });
    assert_eq!(undone(&shop.drain(std::slice::from_ref(&message)).await), Vec::<String>::new());
    let dead = shop.take_from(DEAD_LETTERS).await.remove(0);
    assert_eq!(dead["messageAttributes"]["ofANewerRelease"]["stringValue"], "stays");
    assert_eq!(dead["messageAttributes"]["requestHash"], message["messageAttributes"]["requestHash"]);
    let reason = dead["messageAttributes"]["reason"]["stringValue"].as_str().expect("a reason");
    assert!(reason.starts_with("another request was accepted"), "{reason}");
    let delayed = ada.get(&path).await.expect(200);
    assert_eq!((&delayed["status"], &delayed["queuedAt"]), (&json!("DELAYED"), &reply.body["queuedAt"]));
    assert!(delayed["delayedAt"].is_string());

    // It says the same: the order is placed.
    message["messageAttributes"]["requestHash"]["stringValue"] = json!(other);
    shop.drain(&[message]).await;
    assert_eq!(ada.get(&path).await.expect(200)["status"], "PENDING");
    assert_eq!((shop.available("thing").await, shop.messages_in(DEAD_LETTERS).await), (9_999, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_the_last_release_is_placed() {
    let shop = fast_shop(false).await;
    let ada = shop.customer("ada");
    order_later(&ada, "k", things(1)).await;
    let mut message = shop.take_messages().await.remove(0);
    message["messageAttributes"] = json!({});
    shop.drain(std::slice::from_ref(&message)).await;
    assert_eq!(shop.available("thing").await, 9_999);
    // It is the same order: sent again by its customer it is a replay.
    assert_eq!(ada.order("k", things(1)).await.header("idempotent-replayed"), Some("true"));
}

/// SQS serves no more once 120,000 messages are hidden. So an environment that can only put off what it receives takes
/// its time, and the longer the more environments there are: 14 of them 1.05 seconds for each batch.
#[tokio::test(flavor = "multi_thread")]
async fn without_capacity_many_environments_take_messages_more_slowly() {
    let shop = Shop::open_with(|template| {
        template.queue_sources[0].enabled = false;
        for function in &mut template.functions {
            function.environment.insert("DRAIN_CONCURRENCY".to_owned(), "14".to_owned());
        }
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10_000).await;
    for number in 0..10 {
        order_later(&shop.customer("ada"), &format!("order-{number}"), things(1)).await;
    }
    let messages = shop.take_messages().await;
    shop.wire().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    let begin = Instant::now();
    assert_eq!(undone(&shop.drain(&messages).await).len(), 10);
    assert!(begin.elapsed() >= Duration::from_millis(1050), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_fails_is_tried_again_and_then_given_up_but_waiting_is_no_failure() {
    let shop = fast_shop(false).await;
    let reply = order_later(&shop.customer("ada"), "k", things(1)).await;
    let mut message = shop.take_messages().await.remove(0);
    let defect = || Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };

    // Received ever so often, because it had to wait, it has not failed yet.
    message["attributes"]["ApproximateReceiveCount"] = json!("900");
    shop.wire().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    assert_eq!(
        undone(&shop.drain(std::slice::from_ref(&message)).await),
        [message["messageId"].as_str().expect("an id")]
    );
    shop.wire().limit_writes(None).await;
    assert_eq!((shop.queued().await, shop.messages_in(DEAD_LETTERS).await), (0, 0));

    for failures in 0..5 {
        if failures > 0 {
            message["messageAttributes"]["failures"] =
                json!({ "stringValue": failures.to_string(), "dataType": "Number" });
        }
        shop.wire().inject(Match::action("TransactWriteItems"), defect(), 1);
        // Whatever becomes of it, it is done with here: another message has taken its place.
        assert_eq!(undone(&shop.drain(std::slice::from_ref(&message)).await), Vec::<String>::new());
        let last = failures == 4;
        assert_eq!(shop.messages_in(DEAD_LETTERS).await, u64::from(last));
        assert_eq!(
            shop.queued().await,
            (failures + 1).min(4),
            "each failure but the last left one that waits for its time"
        );
    }
    let dead = shop.take_from(DEAD_LETTERS).await;
    assert_eq!(dead[0]["body"], message["body"]);
    let reason = dead[0]["messageAttributes"]["reason"]["stringValue"].as_str().expect("a reason");
    assert!(reason.starts_with("DynamoDB refused the request"), "{reason}");
    assert_eq!(shop.available("thing").await, 10_000);
    let ada = shop.customer("ada");
    let path = reply.header("location").expect("a location");
    assert_eq!(ada.get(path).await.expect(200)["status"], "DELAYED");
    // Sent back, it starts anew; by then the defect is mended.
    assert_eq!(undone(&shop.drain(&dead).await), Vec::<String>::new());
    assert_eq!(shop.available("thing").await, 9_999);
    assert_eq!(ada.get(path).await.expect(200)["status"], "PENDING");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_capacity_the_whole_batch_waits_and_the_table_is_left_alone() {
    // A cancelled transaction may have met a hot key: then each order finds out for itself.
    for (limit, tries) in [(WriteLimit::per_second(0.0), 1), (WriteLimit::per_second(0.0).cancelling(), 5)] {
        // An order each second: the first has been refused long before the second is due.
        let shop = shop(false, "16").await;
        for number in 0..5 {
            order_later(&shop.customer("ada"), &format!("order-{number}"), things(1)).await;
        }
        let messages = shop.take_messages().await;
        shop.wire().limit_writes(Some(limit)).await;
        shop.wire().take_calls();
        assert_eq!(undone(&shop.drain(&messages).await).len(), 5);
        let commits = shop.wire().take_calls().into_iter().filter(|call| call.action == "TransactWriteItems").count();
        assert_eq!(commits, tries);
        shop.wire().limit_writes(None).await;
        assert_eq!(shop.available("thing").await, 10_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_deployment_lacks_is_no_fault_of_a_message() {
    let shop = fast_shop(false).await;
    order_later(&shop.customer("ada"), "k", things(1)).await;
    let mut messages = shop.take_messages().await;
    messages[0]["messageAttributes"] = json!({ "failures": { "stringValue": "4", "dataType": "Number" } });
    let stack = shop.template().table_name().to_owned();
    shop.dynamodb("DeleteTable", &json!({ "TableName": stack })).await;
    assert_eq!(undone(&shop.drain(&messages).await).len(), 1);
    assert_eq!(shop.messages_in(DEAD_LETTERS).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_for_which_no_time_is_left_does_not_hold_up_those_for_which_there_is() {
    // Five units a second: 34 seconds for the largest order, and there are two of them.
    let shop = Shop::open_with(|template| {
        template.queue_sources[0].enabled = false;
        for function in &mut template.functions {
            function.environment.insert("DRAIN_WRITE_UNITS".to_owned(), "10".to_owned());
            // Time enough for a small order, and too little for a large one.
            function.timeout_seconds = function.timeout_seconds.min(15);
        }
    })
    .await;
    shop.sign_up("ada").await;
    let lines: Vec<_> = (0..40).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    for at in 0..40 {
        shop.product(&format!("p{at}"), 100, 10).await;
    }
    let ada = shop.customer("ada");
    order_later(&ada, "large", json!({ "lines": lines })).await;
    order_later(&ada, "small", json!({ "lines": lines[..1] })).await;
    let mut messages = shop.take_messages().await;
    messages.sort_by_key(|message| !message["body"].to_string().contains("large"));
    let left = undone(&shop.drain(&messages).await);
    assert_eq!(left, [messages[0]["messageId"].as_str().expect("an id")]);
    assert_eq!(shop.available("p0").await, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_for_two_weeks_is_a_dead_letter() {
    let shop = fast_shop(false).await;
    order_later(&shop.customer("ada"), "k", things(1)).await;
    let mut messages = shop.take_messages().await;
    let mut body: Value = serde_json::from_str(messages[0]["body"].as_str().expect("a body")).expect("JSON");
    body["queuedAt"] = json!("2026-01-01T00:00:00.000Z");
    messages[0]["body"] = json!(body.to_string());
    assert_eq!(undone(&shop.drain(&messages).await), Vec::<String>::new());
    assert_eq!(shop.messages_in(DEAD_LETTERS).await, 1);
    assert_eq!(shop.available("thing").await, 10_000);
}

/// What the queue forgets is in no dead-letter queue: whatever comes back again and again must be a dead letter before.
#[test]
fn nothing_is_forgotten_before_it_is_a_dead_letter() {
    let template = crate::completeness::template();
    let queue = template.queues.iter().find(|queue| queue.logical_id == "WriteQueue").expect("the queue");
    let receives = queue.redrive.as_ref().expect("dead letters").max_receive_count;
    // What kills the function comes back by the visibility timeout. What waits: a test of the queue's delays has
    // these two figures.
    assert!(receives * queue.visibility_timeout_seconds < queue.retention_seconds / 2);
    assert_eq!((receives, queue.retention_seconds), (1000, 14 * 86_400));
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_others_are_in_the_way_of_wait_without_holding_up_the_rest() {
    let shop = fast_shop(false).await;
    shop.product("hot", 500, 10).await;
    let ada = shop.customer("ada");
    order_later(&ada, "hot", json!({ "lines": [{ "productId": "hot", "quantity": 1 }] })).await;
    order_later(&ada, "cold", things(1)).await;
    let messages = shop.take_messages().await;
    let hot = Match::action("TransactWriteItems").when(|request| request.to_string().contains("p#hot"));
    shop.wire().inject(hot, Fault::conflict(2), usize::MAX);
    let left = undone(&shop.drain(&messages).await);
    shop.wire().heal();
    let hot = messages.iter().find(|message| message["body"].to_string().contains("hot")).expect("the hot one");
    assert_eq!(left, [hot["messageId"].as_str().expect("an id")]);
    assert_eq!((shop.available("thing").await, shop.available("hot").await), (9_999, 10));
    assert_eq!(shop.nobody().get("/products/hot").await.expect(200)["price"], eur(500));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_without_a_rate_that_serves_the_largest_order_does_not_start() {
    let shop = Shop::open().await;
    for (units, why) in
        [("9", "DRAIN_WRITE_UNITS must be at least 5 for each of the DRAIN_CONCURRENCY"), ("none", "not \"none\"")]
    {
        let mut template = shop.template().clone();
        for function in &mut template.functions {
            function.environment.insert("DRAIN_WRITE_UNITS".to_owned(), units.to_owned());
        }
        let error = local::functions::start_all(&shop.endpoints(), &template).err().expect("a refusal");
        assert!(format!("{error:#}").contains(why), "{error:#}");
    }
}

async fn until(is_so: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
