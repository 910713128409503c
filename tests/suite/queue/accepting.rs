//! Accepting an order into the queue: its cost, partial failures, and orders that are not accepted.

use devstack::fault_proxy::{Access, Consumed, WriteLimit};
use shop::queue::{DEAD_LETTERS, QUEUE};

use super::{GIVE_UP, assert_accepted, idle_shop, settled, throttle};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn accepting_an_order_costs_the_same_for_any_length_of_the_queue() {
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
    // Queueing costs one write unit for each order.
    let calls = |actions: &[&str]| (actions.iter().map(ToString::to_string).collect::<Vec<_>>(), 1.0);
    assert_eq!(first, [calls(&["Query", "PutItem"]), calls(&["BatchGetItem", "TransactWriteItems", "PutItem"])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_could_not_be_recorded_is_not_accepted_and_its_one_unit_is_retried_in_a_burst() {
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
    until("it is refused", async || shop.fault_proxy().calls().iter().any(|call| call.fault.is_some())).await;
    shop.fault_proxy().limit_writes(None).await;
    assert_accepted(&patient.await.expect("a reply"));
    assert_eq!(shop.queued().await, 1);

    // More often than the SDK retries, and then without end.
    let busy = || throttle("TableWriteProvisionedThroughputExceeded");
    shop.fault_proxy().inject(Match::action("PutItem"), busy(), GIVE_UP + 2);
    assert_accepted(&order_later(&ada, "patient", things(1)).await);
    shop.fault_proxy().inject(Match::action("PutItem"), busy(), usize::MAX);
    order_later(&ada, "in vain", things(1)).await.problem(Kind::Throttled);
    shop.fault_proxy().heal();
}

/// A function that crashes while it accepts an order may leave a message without an accepted order, but never an
/// accepted order without a message.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_recorded_as_queued_has_a_message() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    shop.sqs("DeleteQueue", QUEUE, json!({})).await;
    let before = shop.dump().await;
    order_later(&ada, "unsent", things(1)).await.problem(Kind::Internal);
    assert_eq!(shop.dump().await, before, "what is not in the queue is not accepted");
    shop.sqs("CreateQueue", QUEUE, json!({ "QueueName": QUEUE })).await;

    // It crashes after it has sent the message and before it has recorded the order.
    shop.fault_proxy().inject(Match::action("PutItem"), Fault::InternalError, GIVE_UP);
    order_later(&ada, "k", things(1)).await.problem(Kind::Throttled);
    assert_eq!((shop.queued().await, shop.dump().await), (1, before.clone()));
    let messages = shop.take_messages().await;
    // The function may still be running, so the drain postpones the message.
    let left = shop.drain(&messages).await;
    assert_eq!(left["batchItemFailures"].as_array().map(Vec::len), Some(1));
    assert_eq!(shop.dump().await, before);
    // Meanwhile the client retries, and is refused. So the order must not be placed later, even if it could be.
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

    // An operator redrives it if the order was accepted after the time to which a lost table was restored.
    assert_eq!(shop.drain(&dead).await, json!({ "batchItemFailures": [] }));
    assert_eq!(ada.order("k", things(1)).await.header("idempotent-replayed"), Some("true"));
    assert_eq!((shop.available("thing").await, shop.messages_in(DEAD_LETTERS).await), (9, 0));
}

/// The message is sent first. If a refused request is repeated, its message may be delivered before the order is
/// recorded again. It must not be deleted because of the earlier refusal.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_finds_an_earlier_refusal_is_kept_while_its_order_may_still_be_recorded() {
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

/// The first attempt to record the order succeeded and its answer was lost. The retry comes after the message was
/// processed.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_order_that_is_recorded_again_by_a_retry_stays_refused() {
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

/// The message as if its order had been accepted this many seconds ago.
fn aged(message: &Value, seconds: u32) -> Value {
    let mut body: Value = serde_json::from_str(message["body"].as_str().expect("a body")).expect("JSON");
    body["queuedAt"] = json!(Timestamp::now().minus_seconds(seconds));
    let mut message = message.clone();
    message["body"] = json!(body.to_string());
    message
}

/// If the message was lost, a repeated request sends another one, which is as valid.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_message_was_lost_is_placed_when_it_is_requested_again() {
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

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_was_answered_as_refused_is_never_placed_later() {
    let shop = idle_shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let reply = order_later(&ada, "k", things(1)).await;
    let messages = shop.take_messages().await;
    // One of two concurrent deliveries is slow. Meanwhile the other one finds no stock and refuses the order, and then stock is added.
    let is_order = |request: &Value| request.to_string().contains("\"order\"");
    let quick = async || {
        adjust(&admin, -10).await;
        shop.drain(&messages).await;
        assert_eq!(settled(&ada, &reply).await["status"], "REJECTED");
        adjust(&admin, 10).await;
    };
    shop.held(commit().when(is_order), shop.drain(&messages), quick).await;
    assert_eq!(settled(&ada, &reply).await["status"], "REJECTED");
    assert_eq!(shop.available("thing").await, 10);
}

async fn adjust(admin: &Client, delta: i64) {
    admin.post_if("/products/thing/stock", "*", json!({ "delta": delta })).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_queued_order_expires_after_its_message() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let first = order_later(&ada, "k", things(1)).await;
    let path = first.header("location").expect("a location").to_owned();
    shop.set(
        &format!("o#{}", path.trim_start_matches("/orders/")),
        "queued",
        "expiresAt",
        json!({ "N": "1700000000" }),
    )
    .await;
    ada.get(&path).await.problem(Kind::NotFound);
    // Also before DynamoDB has deleted it: another request may use the key.
    let again = order_later(&ada, "k", things(2)).await;
    assert_accepted(&again);
    assert_eq!(again.header("idempotent-replayed"), None);
    assert_eq!(ada.get(&path).await.expect(200), again.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_can_never_be_placed_is_refused_at_once_and_not_queued() {
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

    // The largest order can be queued.
    for at in 0..40 {
        shop.product(&format!("p{at}"), 100, 1).await;
    }
    let reply = order_later(&ada, "k", json!({ "lines": lines[..40] })).await;
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(settled(&ada, &reply).await["total"], eur(4000));
}
