//! Accepting an order that waits: what it costs, what it leaves when half of it fails, and what is not accepted at all.

use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use http_api::Kind;
use key_schema::value::Timestamp;
use local::fault_proxy::{Access, Consumed, Fault, Match, WriteLimit};
use local::functions::{self, Endpoints};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{GIVE_UP, assert_accepted, commit, idle_shop, order_later, settled, things, throttle};
use crate::sample_events::event;
use crate::shop::{Client, eur};
use crate::shop_queue::{DEAD_LETTERS, QUEUE};

#[tokio::test(flavor = "multi_thread")]
async fn accepting_costs_the_same_whatever_waits_already() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let cost = async |key: &str| {
        shop.fault_proxy().take_calls();
        assert_accepted(&order_later(&ada, &format!("preferred-{key}"), things(1)).await);
        let preferred = shop.fault_proxy().take_calls();
        shop.fault_proxy().inject(commit(), throttle("TableWriteProvisionedThroughputExceeded"), 1);
        assert_accepted(&ada.order(&format!("throttled-{key}"), things(1)).await);
        let throttled = shop.fault_proxy().take_calls();
        [preferred, throttled].map(|calls| {
            let writes =
                calls.iter().flat_map(|call| &call.consumed).filter(|consumed| consumed.access == Access::Write);
            let units: f64 = writes.map(Consumed::units).sum();
            (calls.into_iter().map(|call| call.action).collect::<Vec<_>>(), units)
        })
    };
    let first = cost("first").await;
    for at in 0..200 {
        assert_accepted(&order_later(&ada, &format!("waiting-{at}"), things(1)).await);
    }
    assert_eq!(shop.queued().await, 202);
    assert_eq!(cost("last").await, first);
    // The queue costs one unit an order.
    let calls = |actions: &[&str]| (actions.iter().map(ToString::to_string).collect::<Vec<_>>(), 1.0);
    assert_eq!(first, [calls(&["Query", "PutItem"]), calls(&["BatchGetItem", "TransactWriteItems", "PutItem"])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_was_not_written_down_is_not_accepted_and_in_a_burst_its_one_unit_gets_through() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    shop.fault_proxy().inject(Match::action("PutItem"), Fault::InternalError, GIVE_UP);
    let before = shop.dump().await;
    order_later(&ada, "k", things(1)).await.problem(Kind::Throttled);
    assert_eq!((shop.take_messages().await.len(), shop.dump().await), (1, before), "sent, and not accepted");
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    let patient = tokio::spawn({
        let ada = ada.clone();
        async move { order_later(&ada, "k", things(1)).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    shop.fault_proxy().limit_writes(None).await;
    assert_accepted(&patient.await.expect("a reply"));
    assert_eq!(shop.queued().await, 1);

    // More often than the SDK asks, and then without end.
    let busy = || throttle("TableWriteProvisionedThroughputExceeded");
    shop.fault_proxy().inject(Match::action("PutItem"), busy(), GIVE_UP + 2);
    assert_accepted(&order_later(&ada, "patient", things(1)).await);
    shop.fault_proxy().inject(Match::action("PutItem"), busy(), usize::MAX);
    order_later(&ada, "in vain", things(1)).await.problem(Kind::Throttled);
    shop.fault_proxy().heal();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_was_written_down_and_not_sent_is_sent_when_it_is_asked_for_again() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    shop.sqs("DeleteQueue", QUEUE, json!({})).await;
    order_later(&ada, "k", things(1)).await.problem(Kind::Internal);

    shop.sqs("CreateQueue", QUEUE, json!({ "QueueName": QUEUE })).await;
    let reply = order_later(&ada, "k", things(1)).await;
    assert_accepted(&reply);
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(settled(&ada, &reply).await["status"], "PENDING");
}

/// Whoever dies while it accepts an order leaves a message that nobody accepted, and never an accepted order that is in
/// no queue.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_written_down_as_waiting_is_in_the_queue() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    shop.sqs("DeleteQueue", QUEUE, json!({})).await;
    let before = shop.dump().await;
    order_later(&ada, "unsent", things(1)).await.problem(Kind::Internal);
    assert_eq!(shop.dump().await, before, "what is not in the queue is not accepted");
    shop.sqs("CreateQueue", QUEUE, json!({ "QueueName": QUEUE })).await;

    // It dies after it has sent, and before it has written.
    shop.fault_proxy().inject(Match::action("PutItem"), Fault::InternalError, GIVE_UP);
    order_later(&ada, "k", things(1)).await.problem(Kind::Throttled);
    assert_eq!((shop.queued().await, shop.dump().await), (1, before.clone()));
    let messages = shop.take_messages().await;
    // It may still be at work: the drain waits for it.
    let left = shop.drain(&messages).await;
    assert_eq!(left["batchItemFailures"].as_array().map(Vec::len), Some(1));
    assert_eq!(shop.dump().await, before);
    // Meanwhile its client asks again, and is refused. So it must not be placed later, when it could be.
    adjust(&admin, -10).await;
    ada.order("k", things(1)).await.problem(Kind::OutOfStock);
    adjust(&admin, 10).await;
    let before = shop.dump().await;
    let later = aged(&messages[0], 61);
    assert_eq!(shop.drain(&[later]).await, json!({ "batchItemFailures": [] }));
    assert_eq!(shop.dump().await, before);
    let dead = shop.take_from(DEAD_LETTERS).await;
    let reason = dead[0]["messageAttributes"]["reason"]["stringValue"].as_str().expect("a reason");
    assert!(reason.starts_with("nobody accepted it"), "{reason}");

    // If it was accepted after the moment to which a lost table was restored, somebody sends it back.
    assert_eq!(shop.drain(&dead).await, json!({ "batchItemFailures": [] }));
    assert_eq!(ada.order("k", things(1)).await.header("idempotent-replayed"), Some("true"));
    assert_eq!((shop.available("thing").await, shop.messages_in(DEAD_LETTERS).await), (9, 0));
}

/// The message comes first. Of a request that is repeated after its refusal, it may be delivered before the order is
/// written down anew: then it must not be deleted by the refusal that stands there.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_meets_an_earlier_refusal_is_kept_while_its_order_may_be_written_down() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    adjust(&admin, -10).await;
    let reply = order_later(&ada, "k", things(1)).await;
    let messages = shop.take_messages().await;
    assert_eq!(shop.drain(&messages).await, json!({ "batchItemFailures": [] }));
    assert_eq!(settled(&ada, &reply).await["status"], "REJECTED");
    let before = shop.dump().await;
    let kept = shop.drain(&[aged(&messages[0], 0)]).await;
    assert_eq!(kept["batchItemFailures"].as_array().map(Vec::len), Some(1));
    assert_eq!(shop.drain(&[aged(&messages[0], 61)]).await, json!({ "batchItemFailures": [] }));
    assert_eq!((shop.dump().await, shop.messages_in(DEAD_LETTERS).await), (before, 0));
}

/// The first try was done and its answer lost; the second comes when the message has been there.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_written_down_a_second_time_stays_refused() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    adjust(&admin, -10).await;
    shop.fault_proxy().take_calls();
    let reply = order_later(&ada, "k", things(1)).await;
    let calls = shop.fault_proxy().take_calls();
    let acceptance = calls.iter().find(|call| call.action == "PutItem").expect("an acceptance");
    shop.drain(&shop.take_messages().await).await;
    let before = shop.dump().await;
    let (status, answer) =
        shop.call_as("PlaceOrder", shop.dynamodb_url(), "DynamoDB_20120810.PutItem", &acceptance.request).await;
    assert_eq!(status, 400, "{answer}");
    assert!(
        answer["__type"].as_str().is_some_and(|kind| kind.ends_with("ConditionalCheckFailedException")),
        "{answer}"
    );
    assert_eq!(shop.dump().await, before);
    assert_eq!(settled(&ada, &reply).await["status"], "REJECTED");
}

/// The message of an order that was accepted some time ago.
fn aged(message: &Value, seconds: u32) -> Value {
    let mut body: Value = serde_json::from_str(message["body"].as_str().expect("a body")).expect("JSON");
    body["queuedAt"] = json!(Timestamp::now().minus_seconds(seconds));
    let mut message = message.clone();
    message["body"] = json!(body.to_string());
    message
}

/// Also if its message was lost: a repeated request sends another, which speaks for the order as well.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_message_was_lost_goes_on_when_it_is_asked_for_again() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    adjust(&admin, -10).await;
    for (key, units, status) in [("none", 0, "REJECTED"), ("some", 10, "PENDING")] {
        let reply = order_later(&ada, key, things(1)).await;
        shop.take_messages().await;
        if units > 0 {
            adjust(&admin, units).await;
        }
        let again = order_later(&ada, key, things(1)).await;
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &reply.body));
        shop.drain(&shop.take_messages().await).await;
        assert_eq!(settled(&ada, &reply).await["status"], status);
    }
}

/// An endpoint at which SQS says that it is asked too much, to whatever it is asked.
async fn throttling_sqs() -> String {
    let throttle = async || {
        let headers = [("x-amzn-errortype", "RequestThrottled"), ("content-type", "application/x-amz-json-1.0")];
        let body = json!({ "__type": "com.amazonaws.sqs#RequestThrottled", "message": "Request is throttled." });
        (StatusCode::FORBIDDEN, headers, body.to_string())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(throttle)).await });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_is_asked_too_much_is_told_as_such_and_the_order_may_be_asked_for_again() {
    let shop = idle_shop().await;
    let endpoints = Endpoints { sqs: throttling_sqs().await, ..shop.endpoints() };
    let functions = functions::start_all(&endpoints, shop.template()).expect("the functions start");
    let (_, place_order) =
        functions.handlers.iter().find(|(name, _)| name == "place-order").expect("it is in the template");
    let mut event = event("place-order");
    event["headers"]["prefer"] = json!("respond-async");
    event["body"] = json!(things(1).to_string());
    let answer = place_order(event).await.expect("an answer");
    assert_eq!(answer["statusCode"], 503, "{answer}");
    assert!(answer["headers"]["retry-after"].is_string());
    let problem: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
    assert_eq!((&problem["type"], &problem["outcome"]), (&json!("/problems/throttled"), &json!("none")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_to_wait_for_an_order_that_is_in_no_queue() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    shop.sqs("DeleteQueue", QUEUE, json!({})).await;
    shop.fault_proxy().inject(commit(), throttle("TableWriteProvisionedThroughputExceeded"), 1);
    ada.order("k", things(1)).await.problem(Kind::Internal);

    shop.sqs("CreateQueue", QUEUE, json!({ "QueueName": QUEUE })).await;
    adjust(&admin, -10).await;
    ada.order("k", things(1)).await.problem(Kind::OutOfStock);
    assert_eq!(shop.queued().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_told_that_an_order_is_refused_has_none_of_it_later() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let reply = order_later(&ada, "k", things(1)).await;
    let messages = shop.take_messages().await;
    // Of two deliveries at once, one is slow. While it is, the other finds nothing left, says so, and more arrives.
    let is_order = |request: &Value| request.to_string().contains("\"order\"");
    let slow = Fault::Delay(Duration::from_millis(1500));
    shop.fault_proxy().inject(commit().when(is_order), slow, 1);
    let drain = shop.drainer();
    let slow = tokio::spawn(drain(json!({ "Records": messages })));
    tokio::time::sleep(Duration::from_millis(500)).await;
    adjust(&admin, -10).await;
    shop.drain(&messages).await;
    assert_eq!(settled(&ada, &reply).await["status"], "REJECTED");
    adjust(&admin, 10).await;
    slow.await.expect("it does not panic").expect("an answer");
    assert_eq!(shop.fault_proxy().pending(), 0);
    assert_eq!(settled(&ada, &reply).await["status"], "REJECTED");
    assert_eq!(shop.available("thing").await, 10);
}

async fn adjust(admin: &Client, delta: i64) {
    let body = json!({ "delta": delta }).to_string();
    admin.send(Method::POST, "/products/thing/stock", &[("if-match", "*")], Some(body)).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn that_an_order_waited_is_forgotten_when_its_message_must_be_gone() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let first = order_later(&ada, "k", things(1)).await;
    let path = first.header("location").expect("a location").to_owned();
    let expire = json!({
        "TableName": shop.table(),
        "Key": { "PK": { "S": format!("o#{}", path.trim_start_matches("/orders/")) }, "SK": { "S": "queued" } },
        "UpdateExpression": "SET expiresAt = :then",
        "ExpressionAttributeValues": { ":then": { "N": "1700000000" } },
    });
    shop.dynamodb("UpdateItem", &expire).await;
    ada.get(&path).await.problem(Kind::NotFound);
    // Before DynamoDB has deleted it, too: another request may have the key.
    let again = order_later(&ada, "k", things(2)).await;
    assert_accepted(&again);
    assert_eq!(again.header("idempotent-replayed"), None);
    assert_eq!(ada.get(&path).await.expect(200), again.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_never_be_placed_is_refused_at_once_and_nothing_waits() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let before = shop.dump().await;
    let lines: Vec<_> = (0..41).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    order_later(&ada, "k", json!({ "lines": lines })).await.problem(Kind::TooLarge);
    order_later(&ada, "k", json!({ "lines": [], "x": "y".repeat(70_000) })).await.problem(Kind::TooLarge);
    order_later(&ada, "k", json!({ "lines": [] })).await.problem(Kind::Validation);
    order_later(&ada, &"k".repeat(256), things(1)).await.problem(Kind::Validation);
    let headers = [("prefer", "respond-async")];
    let keyless = ada.send(Method::POST, "/orders", &headers, Some(things(1).to_string())).await;
    keyless.problem(Kind::IdempotencyKeyMissing);
    assert_eq!((shop.queued().await, shop.dump().await), (0, before));

    // The largest there is may wait.
    for at in 0..40 {
        shop.product(&format!("p{at}"), 100, 1).await;
    }
    let reply = order_later(&ada, "k", json!({ "lines": lines[..40] })).await;
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(settled(&ada, &reply).await["total"], eur(4000));
}
