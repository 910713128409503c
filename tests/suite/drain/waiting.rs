//! Orders that cannot be placed yet stay in the queue, and failing orders are given up in the end.

use std::time::Instant;

use devstack::fault_proxy::WriteLimit;
use shop::queue::{DEAD_LETTERS, drain_source};
use shop::set_everywhere;

use super::{fast_shop, shop, undone};
use crate::prelude::*;

/// SQS delivers no more messages once 120,000 are in flight. So an environment that can only postpone messages slows
/// down, the more the more environments there are: 14 environments take 1.05 seconds for each batch.
#[tokio::test(flavor = "multi_thread")]
async fn without_capacity_many_environments_receive_messages_more_slowly() {
    let shop = Shop::open_with(|template| {
        drain_source(template).enabled = false;
        set_everywhere(template, "DRAIN_CONCURRENCY", "14");
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10_000).await;
    for number in 0..10 {
        order_later(&shop.customer("ada"), &format!("order-{number}"), things(1)).await;
    }
    let messages = shop.take_messages().await;
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    let begin = Instant::now();
    assert_eq!(undone(&shop.drain(&messages).await).len(), 10);
    assert!(begin.elapsed() >= Duration::from_millis(1050), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_message_is_retried_and_then_given_up_but_postponing_is_no_failure() {
    let shop = fast_shop(false).await;
    let reply = order_later(&shop.customer("ada"), "k", things(1)).await;
    let mut message = shop.take_messages().await.remove(0);
    let defect = || Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };

    // It was received many times because it was postponed, but it has not failed yet.
    message["attributes"]["ApproximateReceiveCount"] = json!("900");
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    assert_eq!(
        undone(&shop.drain(std::slice::from_ref(&message)).await),
        [message["messageId"].as_str().expect("an id")]
    );
    shop.fault_proxy().limit_writes(None).await;
    assert_eq!((shop.queued().await, shop.messages_in(DEAD_LETTERS).await), (0, 0));

    for failures in 0..5 {
        if failures > 0 {
            message["messageAttributes"]["failures"] =
                json!({ "stringValue": failures.to_string(), "dataType": "Number" });
        }
        shop.fault_proxy().inject(commit(), defect(), 1);
        // The message succeeds here, because another message has taken its place.
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
    // After a redrive it starts anew, and the defect is repaired.
    assert_eq!(undone(&shop.drain(&dead).await), Vec::<String>::new());
    assert_eq!(shop.available("thing").await, 9_999);
    assert_eq!(ada.get(path).await.expect(200)["status"], "PENDING");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_capacity_the_whole_batch_is_postponed_without_calling_the_table() {
    // A cancelled transaction may be due to a hot key, so each order is tried.
    for (limit, tries) in [(WriteLimit::per_second(0.0), 1), (WriteLimit::per_second(0.0).cancelling(), 5)] {
        // One order a second: the first has been throttled long before the second is due.
        let shop = shop(false, "16").await;
        for number in 0..5 {
            order_later(&shop.customer("ada"), &format!("order-{number}"), things(1)).await;
        }
        let messages = shop.take_messages().await;
        shop.fault_proxy().limit_writes(Some(limit)).await;
        shop.fault_proxy().take_calls();
        assert_eq!(undone(&shop.drain(&messages).await).len(), 5);
        let commits =
            shop.fault_proxy().take_calls().into_iter().filter(|call| call.action == "TransactWriteItems").count();
        assert_eq!(commits, tries);
        shop.fault_proxy().limit_writes(None).await;
        assert_eq!(shop.available("thing").await, 10_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_defect_of_the_deployment_does_not_count_against_messages() {
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
async fn an_order_without_enough_time_left_does_not_delay_smaller_orders() {
    // Five units a second: the largest order takes 34 seconds, and there are two of them.
    let shop = Shop::open_with(|template| {
        drain_source(template).enabled = false;
        for function in &mut template.functions {
            function.environment.insert("DRAIN_WRITE_UNITS".to_owned(), "10".to_owned());
            // Enough time for a small order, but not for a large one.
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
async fn orders_with_conflicts_are_postponed_without_delaying_the_others() {
    let shop = fast_shop(false).await;
    shop.product("hot", 500, 10).await;
    let ada = shop.customer("ada");
    order_later(&ada, "hot", basket("hot", 1)).await;
    order_later(&ada, "cold", things(1)).await;
    let messages = shop.take_messages().await;
    let hot = commit().when(|request| request.to_string().contains("p#hot"));
    shop.fault_proxy().inject(hot, Fault::conflict(2), usize::MAX);
    let left = undone(&shop.drain(&messages).await);
    shop.fault_proxy().heal();
    let hot = messages.iter().find(|message| message["body"].to_string().contains("hot")).expect("the hot one");
    assert_eq!(left, [hot["messageId"].as_str().expect("an id")]);
    assert_eq!((shop.available("thing").await, shop.available("hot").await), (9_999, 10));
    assert_eq!(shop.nobody().get("/products/hot").await.expect(200)["price"], eur(500));
}
