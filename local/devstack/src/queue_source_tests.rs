use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::test_stack::{Bench, Call, dies_after, queue, template};

#[tokio::test]
async fn a_message_arrives_in_lambdas_format_and_is_deleted_after_success() {
    let bench = Bench::start(template(|_| {}), |_| async { Ok(Value::Null) }).await;
    let attributes = json!({
        "kind": { "DataType": "String", "StringValue": "note" },
        "key": { "DataType": "Binary", "BinaryValue": "AQID" },
    });
    bench.sqs.send("writes", &json!("one"), &attributes).await.unwrap();

    let calls = bench.after(1).await;
    let record = &calls[0].event["Records"][0];
    let mut members: Vec<_> = record.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    let expected =
        "attributes awsRegion body eventSource eventSourceARN md5OfBody messageAttributes messageId receiptHandle";
    assert_eq!(members.join(" "), expected);
    assert_eq!(record["eventSource"], "aws:sqs");
    assert_eq!(record["eventSourceARN"], "arn:aws:sqs:us-east-1:000000000000:writes");
    assert_eq!(record["md5OfBody"], "f97c5d29941bfb1b2fdab0874906ab82");
    assert_eq!(record["attributes"]["ApproximateReceiveCount"], "1");
    let lists = |mut value: Value| {
        value["stringListValues"] = json!([]);
        value["binaryListValues"] = json!([]);
        value
    };
    let kind = lists(json!({ "stringValue": "note", "dataType": "String" }));
    let key = lists(json!({ "binaryValue": "AQID", "dataType": "Binary" }));
    assert_eq!(record["messageAttributes"], json!({ "kind": kind, "key": key }));
    bench.until_there_are(0, 0).await;
}

#[tokio::test]
async fn a_batch_fills_over_several_receives() {
    let template = template(|template| {
        template.queue_sources[0].batch_size = 12;
        template.queue_sources[0].batching_window_seconds = 30;
        queue(template).visibility_timeout_seconds = 30;
    });
    let bench = Bench::start(template, |_| async { Ok(json!({})) }).await;
    bench.send(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]).await;
    assert_eq!(bench.after(1).await[0].bodies().len(), 12);
    bench.until_there_are(1, 0).await;
}

#[tokio::test]
async fn a_batch_that_is_not_full_is_delivered_when_its_window_ends() {
    let template = template(|template| {
        template.queue_sources[0].batching_window_seconds = 1;
        queue(template).visibility_timeout_seconds = 30;
    });
    let bench = Bench::start(template, |_| async { Ok(json!({})) }).await;
    bench.send(&["a"]).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    bench.send(&["b"]).await;
    assert_eq!(bench.after(1).await[0].bodies(), ["a", "b"]);
}

#[tokio::test]
async fn only_failed_messages_come_back_until_they_are_dead_letters() {
    let template = template(|template| dies_after(template, 2));
    let bench = Bench::start(template, |call| async move { Ok(call.failing(&["bad"])) }).await;
    bench.send(&["good", "bad", "fine"]).await;
    bench.until_there_are(0, 1).await;

    let received = |body: &str| bench.calls().iter().flat_map(Call::bodies).filter(|it| *it == body).count();
    assert_eq!(["good", "fine", "bad"].map(received), [1, 1, 2]);
    let last = bench.calls().last().unwrap().clone();
    assert_eq!(last.event["Records"][0]["attributes"]["ApproximateReceiveCount"], "2");
    assert_eq!(last.environment, 0, "a function that answers keeps its environment");
}

#[tokio::test]
async fn a_function_that_does_not_report_succeeds_or_fails_with_its_whole_batch() {
    let template = template(|template| {
        template.queue_sources[0].reports_item_failures = false;
        template.queue_sources[0].batching_window_seconds = 1;
        queue(template).visibility_timeout_seconds = 3;
    });
    let tries = Arc::new(AtomicUsize::new(0));
    let bench = Bench::start(template, move |call| {
        let first = tries.fetch_add(1, Ordering::Relaxed) == 0;
        async move { if first { Err("not now".to_owned()) } else { Ok(call.failing(&["a"])) } }
    });
    let bench = bench.await;
    bench.send(&["a", "b"]).await;
    let calls = bench.after(2).await;
    assert_eq!((calls[0].bodies(), calls[1].bodies()), (vec!["a", "b"], vec!["a", "b"]));
    assert_eq!(calls[1].environment, 0, "an ordinary error keeps the environment");
    bench.until_there_are(0, 0).await;
}

#[test]
fn an_event_is_at_most_as_large_as_lambda_allows() {
    let record = |bytes: usize| json!({ "body": "x".repeat(bytes) });
    let sizes = [MAX_EVENT_BYTES / 2, MAX_EVENT_BYTES / 3, MAX_EVENT_BYTES / 2, 1];
    let events = events(sizes.into_iter().map(record));
    assert_eq!(events.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
}
