//! Orders that cannot be placed yet wait, and those that fail are given up in the end.

use std::time::{Duration, Instant};

use local::fault_proxy::{Fault, Match, WriteLimit};
use serde_json::json;

use super::{fast_shop, shop, undone};
use crate::queue::{order_later, things};
use crate::shop::{Shop, eur};
use crate::shop_queue::DEAD_LETTERS;

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
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(0.0))).await;
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
        shop.fault_proxy().inject(Match::action("TransactWriteItems"), defect(), 1);
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
    // Sent back, it starts anew; by then the defect is repaired.
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
async fn orders_that_others_are_in_the_way_of_wait_without_holding_up_the_rest() {
    let shop = fast_shop(false).await;
    shop.product("hot", 500, 10).await;
    let ada = shop.customer("ada");
    order_later(&ada, "hot", json!({ "lines": [{ "productId": "hot", "quantity": 1 }] })).await;
    order_later(&ada, "cold", things(1)).await;
    let messages = shop.take_messages().await;
    let hot = Match::action("TransactWriteItems").when(|request| request.to_string().contains("p#hot"));
    shop.fault_proxy().inject(hot, Fault::conflict(2), usize::MAX);
    let left = undone(&shop.drain(&messages).await);
    shop.fault_proxy().heal();
    let hot = messages.iter().find(|message| message["body"].to_string().contains("hot")).expect("the hot one");
    assert_eq!(left, [hot["messageId"].as_str().expect("an id")]);
    assert_eq!((shop.available("thing").await, shop.available("hot").await), (9_999, 10));
    assert_eq!(shop.nobody().get("/products/hot").await.expect(200)["price"], eur(500));
}
