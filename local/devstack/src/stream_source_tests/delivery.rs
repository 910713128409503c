use std::time::Duration;

use serde_json::{Value, json};

use crate::Options;
use crate::template::Pattern;
use crate::test_stack::{Bench, stream_template};
use crate::{Functions, Stack};

#[tokio::test]
async fn a_record_arrives_in_lambdas_format() {
    let bench = Bench::start(stream_template(|_| {}), |_| async { Ok(Value::Null) }).await;
    bench.put_value("a", "old").await;
    bench.put_value("a", "new").await;
    let calls = bench.settled().await;
    let records: Vec<_> = calls.iter().flat_map(|call| call.event["Records"].as_array().unwrap()).collect();
    let [inserted, modified] = records[..] else { panic!("{records:?}") };

    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let expected = "awsRegion dynamodb eventID eventName eventSource eventSourceARN eventVersion";
    assert_eq!(members(modified), expected);
    let expected =
        "ApproximateCreationDateTime Keys NewImage OldImage SequenceNumber SizeBytes StreamViewType".to_owned();
    assert_eq!(members(&modified["dynamodb"]), expected);
    assert_eq!(members(&inserted["dynamodb"]), expected.replace("OldImage ", ""));
    assert_eq!([&inserted["eventName"], &modified["eventName"]], ["INSERT", "MODIFY"]);
    assert_eq!([&modified["eventSource"], &modified["eventVersion"]], ["aws:dynamodb", "1.1"]);
    assert_eq!(modified["awsRegion"], "us-east-1");
    assert!(modified["eventSourceARN"].as_str().unwrap().contains(":table/devstack-table/stream/"));
    let written = &modified["dynamodb"];
    assert!(written["ApproximateCreationDateTime"].is_u64());
    assert_eq!(written["StreamViewType"], "NEW_AND_OLD_IMAGES");
    assert_eq!(
        [&written["OldImage"]["value"], &written["NewImage"]["value"]],
        [&json!({ "S": "old" }), &json!({ "S": "new" })]
    );
    assert_eq!(members(&calls[0].event), "Records", "an ordinary event has records alone");
}

#[tokio::test]
async fn records_come_in_sequence_in_batches_of_at_most_the_batch_size() {
    let template = stream_template(|source| source.batch_size = 3);
    let bench = Bench::start(template, |_| async { Ok(json!({ "batchItemFailures": [] })) }).await;
    bench.put(&["c", "a", "d", "b", "e"]).await;
    assert_eq!(bench.batches().await, ["c a d", "b e"]);
}

#[tokio::test]
async fn a_batch_waits_for_its_window_unless_it_is_full() {
    let template = stream_template(|source| {
        source.batch_size = 3;
        source.batching_window_seconds = 1;
    });
    let bench = Bench::start(template, |_| async { Ok(Value::Null) }).await;
    bench.put(&["a", "b"]).await;
    bench.put(&["c", "d"]).await;
    let calls = bench.after(2).await;
    assert_eq!([calls[0].keys(), calls[1].keys()], ["a b c", "d"]);
}

#[tokio::test]
async fn only_records_that_match_a_filter_are_delivered() {
    let template = stream_template(|source| {
        let pattern = r#"{ "eventName": ["INSERT"], "dynamodb": { "Keys": { "PK": { "S": ["o#1", "o#2"] } } } }"#;
        source.filters = vec![Pattern::parse(pattern).unwrap()];
    });
    let bench = Bench::start(template, |_| async { Ok(Value::Null) }).await;
    bench.put(&["c#1", "c#2"]).await;
    assert_eq!(bench.batches().await, Vec::<String>::new());
    bench.put(&["c#3", "o#1", "c#4", "o#2"]).await;
    bench.put_value("o#1", "changed").await;
    assert_eq!(bench.batches().await.join(" "), "o#1 o#2");
}

#[tokio::test]
async fn a_write_that_changes_nothing_is_not_delivered() {
    let bench = Bench::start(stream_template(|_| {}), |_| async { Ok(Value::Null) }).await;
    for value in ["one", "one", "two", "two"] {
        bench.put_value("a", value).await;
    }
    assert_eq!(bench.batches().await.join(" "), "a a");
}

#[tokio::test]
async fn a_consumer_receives_everything_again_after_a_restart() {
    let directory = std::env::temp_dir().join(format!("devstack-stream-{}", uuid::Uuid::new_v4()));
    let options = |template| Options { data: Some(directory.clone()), ..Options::new(template) };
    let bench = Bench::start_with(options(stream_template(|_| {})), |_| async { Ok(Value::Null) }).await;
    bench.put(&["a", "b"]).await;
    assert_eq!(bench.batches().await.join(" "), "a b");
    bench.stack.shutdown().await.unwrap();

    let bench = Bench::start_with(options(stream_template(|_| {})), |_| async { Ok(Value::Null) }).await;
    bench.put(&["c"]).await;
    assert_eq!(bench.batches().await.join(" "), "a b c");
    bench.stack.shutdown().await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn a_source_that_is_not_enabled_consumes_nothing() {
    let bench = Bench::start(stream_template(|source| source.enabled = false), |_| async { Ok(Value::Null) }).await;
    bench.put(&["a"]).await;
    assert_eq!(bench.batches().await, Vec::<String>::new());
}

#[tokio::test]
async fn waiting_for_a_busy_stack_ends_with_an_error() {
    let bench = Bench::start(stream_template(|_| {}), |_| std::future::pending()).await;
    bench.put(&["a"]).await;
    let short = Duration::from_millis(100);
    let error = bench.stack.settle_streams(short).await.unwrap_err().to_string();
    assert_eq!(error, "the consumers of the stream are still busy after 0.1 s");
    let error = bench.stack.settle(short).await.unwrap_err().to_string();
    assert_eq!(error, "the event sources are still busy after 0.1 s: every consumed queue is empty");
}

#[tokio::test]
async fn a_table_without_a_stream_is_named() {
    let mut template = stream_template(|_| {});
    template.tables[0].creation.as_object_mut().unwrap().remove("StreamSpecification");
    let outcome = Stack::start(Options::new(template), |_, _| Ok(Functions::default())).await;
    let error = outcome.err().unwrap().to_string();
    assert!(error.starts_with("the table devstack-table at http://127.0.0.1:"), "{error}");
    assert!(error.ends_with(" has no stream: delete it, or choose another place with --data"), "{error}");
}
