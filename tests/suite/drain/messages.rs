//! Unreadable and old messages: none is lost, and none affects another message.

use shop::queue::{DEAD_LETTERS, QUEUE};

use super::{fast_shop, undone, until};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_message_becomes_a_dead_letter_with_its_reason_and_affects_no_other() {
    let shop = fast_shop(true).await;
    let ada = shop.customer("ada");
    let poison = [
        ("not JSON".to_owned(), "the message is not an order: "),
        (json!({ "customerId": "ada" }).to_string(), "the message is not an order: missing field"),
    ];
    for (body, _) in &poison {
        shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": body })).await;
    }
    order_later(&ada, "k", things(1)).await;
    until("no message is left", async || shop.queued().await == 0).await;
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
async fn a_message_of_a_newer_release_stays_in_the_queue_for_a_day() {
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
        // During a deployment, and after a rollback that lasts most of a day.
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
        assert!(reason.starts_with("this release cannot read the message"), "{reason}");
    }
    // A release that can read the message places the order.
    shop.drain(&[message]).await;
    let path = reply.header("location").expect("a location").to_owned();
    assert_eq!(ada.get(&path).await.expect(200)["status"], "PENDING");
}

/// A queued order keeps its request hash, even if a later release computes the hash differently.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_placed_under_the_hash_that_it_was_accepted_with() {
    let shop = fast_shop(false).await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(1)).await;
    let path = reply.header("location").expect("a location").to_owned();
    let mut message = shop.take_messages().await.remove(0);
    let other = "A".repeat(43);
    shop.set(&format!("o#{}", path.trim_start_matches("/orders/")), "queued", "requestHash", json!({ "S": other }))
        .await;

    // The message has another hash: that is a defect, so it becomes a dead letter. The customer sees the delay.
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

    // The message has the same hash: the order is placed.
    message["messageAttributes"]["requestHash"]["stringValue"] = json!(other);
    shop.drain(&[message]).await;
    assert_eq!(ada.get(&path).await.expect(200)["status"], "PENDING");
    assert_eq!((shop.available("thing").await, shop.messages_in(DEAD_LETTERS).await), (9_999, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_a_hash_is_placed() {
    let shop = fast_shop(false).await;
    let ada = shop.customer("ada");
    order_later(&ada, "k", things(1)).await;
    let mut message = shop.take_messages().await.remove(0);
    message["messageAttributes"] = json!({});
    shop.drain(std::slice::from_ref(&message)).await;
    assert_eq!(shop.available("thing").await, 9_999);
    // It is the same order: if the customer repeats the request, it is a replay.
    assert_eq!(ada.order("k", things(1)).await.header("idempotent-replayed"), Some("true"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_waited_for_two_weeks_becomes_a_dead_letter() {
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

/// SQS deletes a message after the retention period without moving it to the dead-letter queue. So a message that comes
/// back repeatedly must become a dead letter before.
#[test]
fn messages_become_dead_letters_before_the_queue_deletes_them() {
    let template = crate::completeness::template();
    let queue = template.queues.iter().find(|queue| queue.logical_id == "WriteQueue").expect("the queue");
    let receives = queue.redrive.as_ref().expect("dead letters").max_receive_count;
    // A message that crashes the function comes back after the visibility timeout. For postponed messages, a test of
    // the queue's delays has these figures.
    assert!(receives * queue.visibility_timeout_seconds < queue.retention_seconds / 2);
    assert_eq!((receives, queue.retention_seconds), (1000, 14 * 86_400));
}

/// SQS delivers the messages of other groups first if one group occupies the consumers.
#[tokio::test(flavor = "multi_thread")]
async fn each_message_belongs_to_the_group_of_its_customer_also_when_it_is_sent_on() {
    let shop = fast_shop(false).await;
    let groups = |shop: &Shop| -> Vec<Value> {
        let [queues, _] = shop.service_proxies();
        let sent = queues.take_calls().into_iter().filter(|call| call.action == "SendMessage");
        sent.map(|call| call.request["MessageGroupId"].clone()).collect()
    };
    groups(&shop);
    order_later(&shop.customer("ada"), "k", things(1)).await.expect(202);
    assert_eq!(groups(&shop), ["ada"]);

    // A message may have no group. Its copy in the dead-letter queue has one.
    let mut message = shop.take_messages().await.remove(0);
    assert!(message["attributes"]["MessageGroupId"].is_null());
    let mut unreadable: Value = serde_json::from_str(message["body"].as_str().expect("a body")).expect("JSON");
    unreadable["queuedAt"] = json!("yesterday");
    message["body"] = json!(unreadable.to_string());
    let long_ago = (Timestamp::now().as_second() - 25 * 3600) * 1000;
    message["attributes"]["SentTimestamp"] = json!(long_ago.to_string());
    shop.drain(&[message]).await;
    assert_eq!(groups(&shop), ["ada"]);
    assert_eq!(shop.messages_in(DEAD_LETTERS).await, 1);
}
