use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::Options;
use crate::template::Template;
use crate::test_stack::{Bench, Call, keeping_template, stream_template};

/// A consumer that fails whenever its batch contains this record.
fn failing_with(key: &'static str) -> impl Fn(&Call) -> Result<Value, String> + Clone {
    move |call| if call.keys().contains(key) { Err(format!("{key} is too much")) } else { Ok(Value::Null) }
}

async fn bench(
    template: Template,
    answer: impl Fn(&Call) -> Result<Value, String> + Clone + Send + Sync + 'static,
) -> Bench {
    Bench::start(template, move |call| std::future::ready(answer(&call))).await
}

/// A consumer that gives these answers one after the other, and then succeeds.
fn first(answers: Vec<Result<&'static str, String>>) -> impl Fn(&Call) -> Result<Value, String> + Clone {
    let tries = Arc::new(AtomicUsize::new(0));
    move |call| match answers.get(tries.fetch_add(1, Ordering::Relaxed)) {
        Some(Ok(key)) => Ok(call.failing_at(key)),
        Some(Err(error)) => Err(error.clone()),
        None => Ok(json!({ "batchItemFailures": [] })),
    }
}

#[tokio::test]
async fn all_records_from_the_first_failed_one_are_redelivered_together_with_newer_ones() {
    let template = stream_template(|source| source.batch_size = 3);
    let bench = bench(template, first(vec![Ok("b"), Ok("d")])).await;
    bench.put(&["a", "b", "c", "d", "e"]).await;
    assert_eq!(bench.batches().await, ["a b c", "b c d", "d e"]);
    assert_eq!(bench.given_up().await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_lowest_of_several_failed_records_counts() {
    let answer = |call: &Call| {
        let [b, c] = ["b", "c"].map(|key| call.failing_at(key)["batchItemFailures"][0].clone());
        let failed = if call.keys().starts_with('a') { vec![c, b] } else { vec![] };
        Ok(json!({ "batchItemFailures": failed }))
    };
    let bench = bench(stream_template(|_| {}), answer).await;
    bench.put(&["a", "b", "c"]).await;
    assert_eq!(bench.batches().await, ["a b c", "b c"]);
}

#[tokio::test]
async fn a_failed_batch_is_retried_unchanged() {
    let template = stream_template(|source| source.batch_size = 2);
    let unknown =
        |call: &Call| Ok(json!({ "batchItemFailures": [{ "itemIdentifier": call.environment.to_string() }] }));
    let failing = first(vec![Err("not now".to_owned())]);
    let tries = Arc::new(AtomicUsize::new(0));
    let answer = move |call: &Call| {
        // An answer that names no record of the batch counts as a failure.
        if tries.fetch_add(1, Ordering::Relaxed) == 0 { unknown(call) } else { failing(call) }
    };
    let bench = bench(template, answer).await;
    bench.put(&["a", "b", "c"]).await;
    assert_eq!(bench.batches().await, ["a b", "a b", "a b", "c"]);
}

#[tokio::test]
async fn a_failed_batch_is_bisected_down_to_the_bad_record_which_is_given_up() {
    let template = stream_template(|source| source.bisects_batches = true);
    let bench = bench(template, failing_with("bad")).await;
    bench.put(&["a", "b", "c", "bad", "d"]).await;
    // Bisecting uses up no retry: the bad record alone is tried three times.
    let expected = ["a b c bad d", "a b", "c bad d", "c", "bad d", "bad", "bad", "bad", "d"];
    assert_eq!(bench.batches().await, expected);

    let given_up = bench.given_up().await;
    let [message] = &given_up[..] else { panic!("{given_up:?}") };
    let bad = bench.calls()[5].event["Records"][0].clone();
    let batch = &message["DDBStreamBatchInfo"];
    let at = batch["approximateArrivalOfFirstRecord"].clone();
    let expected = json!({
        "shardId": "shardId-00000001-devstack-table",
        "startSequenceNumber": bad["dynamodb"]["SequenceNumber"],
        "endSequenceNumber": bad["dynamodb"]["SequenceNumber"],
        "approximateArrivalOfFirstRecord": at,
        "approximateArrivalOfLastRecord": at,
        "batchSize": 1,
        "streamArn": bad["eventSourceARN"],
    });
    assert_eq!(*batch, expected);
    let created = at.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
    assert_eq!(bad["dynamodb"]["ApproximateCreationDateTime"], created);
    assert_eq!(message["version"], "1.0");
    assert!(message["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    let context = &message["requestContext"];
    assert_eq!(context["condition"], "RetryAttemptsExhausted");
    assert_eq!(context["approximateInvokeCount"], 3);
    assert_eq!(context["functionArn"], "arn:aws:lambda:us-east-1:000000000000:function:CountNotes");
    let expected = json!({ "statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled" });
    assert_eq!(message["responseContext"], expected);
}

#[tokio::test]
async fn a_batch_that_is_not_bisected_is_given_up_as_a_whole_and_the_next_one_is_delivered() {
    let template = stream_template(|source| source.batch_size = 2);
    let bench = bench(template, failing_with("bad")).await;
    bench.put(&["a", "bad", "b", "c"]).await;
    assert_eq!(bench.batches().await, ["a bad", "a bad", "a bad", "b c"]);
    assert_eq!(bench.given_up().await[0]["DDBStreamBatchInfo"]["batchSize"], 2);
}

#[tokio::test]
async fn records_from_one_that_is_always_reported_are_given_up() {
    let bench = bench(stream_template(|_| {}), |call: &Call| Ok(call.failing_at("bad"))).await;
    bench.put(&["a", "bad", "b"]).await;
    assert_eq!(bench.batches().await, ["a bad b", "bad b", "bad b"]);
    let message = &bench.given_up().await[0];
    assert_eq!(message["DDBStreamBatchInfo"]["batchSize"], 2);
    assert_eq!(message["requestContext"]["approximateInvokeCount"], 3);
    assert_eq!(message["responseContext"].get("functionError"), None, "it answered");
}

#[tokio::test]
async fn cutting_one_half_does_not_affect_the_other() {
    let template = stream_template(|source| source.bisects_batches = true);
    let bench = bench(template, first(vec![Err("too many".to_owned()), Ok("b")])).await;
    bench.put(&["a", "b", "c", "d"]).await;
    assert_eq!(bench.batches().await, ["a b c d", "a b", "b", "c d"]);
}

#[tokio::test]
async fn a_record_that_is_too_old_is_given_up() {
    let template = stream_template(|source| {
        source.maximum_record_age_seconds = 1;
        source.maximum_retry_attempts = None;
    });
    let bench = bench(template, failing_with("bad")).await;
    bench.put(&["bad"]).await;
    bench.settled().await;
    bench.put(&["good"]).await;
    let batches = bench.batches().await;
    assert_eq!(batches.last().unwrap(), "good");
    assert!(batches.len() > 2, "it was tried again: {batches:?}");
    let context = &bench.given_up().await[0]["requestContext"];
    assert_eq!(context["condition"], "RecordAgeExceeded");
    assert_eq!(context["approximateInvokeCount"], batches.len() - 1);
}

#[tokio::test]
async fn a_killed_invocation_is_repeated_in_a_new_environment() {
    let bench = Bench::start(stream_template(|_| {}), |call| async move {
        if call.environment == 0 { std::future::pending().await } else { Ok(Value::Null) }
    });
    let bench = bench.await;
    bench.put(&["a", "b"]).await;
    bench.after(1).await;
    bench.stack.kill("count-notes").unwrap();
    let calls = bench.settled().await;
    assert_eq!(calls.iter().map(|call| call.environment).collect::<Vec<_>>(), [0, 1]);
    assert_eq!([calls[0].keys(), calls[1].keys()], ["a b", "a b"]);
}

/// The bucket gets the whole event, and its event on the default bus goes to the queue, so that the queue's alarm goes off.
#[tokio::test]
async fn a_batch_that_is_given_up_is_kept_whole_in_a_bucket_and_the_queue_names_the_object() {
    let data = std::env::temp_dir().join(format!("devstack-kept-{}", uuid::Uuid::new_v4()));
    let template = keeping_template(|source| source.tumbling_window_seconds = 900);
    let options = Options { data: Some(data.clone()), ..Options::new(template) };
    let answer = failing_with("bad");
    let bench = Bench::start_with(options, move |call| std::future::ready(answer(&call))).await;
    bench.put(&["a", "bad"]).await;
    assert_eq!(bench.batches().await, ["a bad"; 3]);
    let [told] = &bench.given_up().await[..] else { panic!("one message") };
    assert_eq!((&told["source"], &told["detail-type"]), (&json!("aws.s3"), &json!("Object Created")));
    let (bucket, key) = (&told["detail"]["bucket"]["name"], told["detail"]["object"]["key"].as_str().unwrap());
    let shard = "shardId-00000001-devstack-table";
    assert!(*bucket == "kept" && key.starts_with(&format!("aws/lambda/CountNotes/{shard}/20")), "{told}");

    let object = std::fs::read(data.join("buckets/kept").join(key)).unwrap();
    let kept: Value = serde_json::from_slice(&object).unwrap();
    assert_eq!(kept["requestContext"]["condition"], "RetryAttemptsExhausted");
    assert_eq!(kept["DDBStreamBatchInfo"]["shardId"], shard);
    assert_eq!(kept["DDBStreamBatchInfo"]["batchSize"], 2);
    let payload: Value = serde_json::from_str(kept["payload"].as_str().unwrap()).unwrap();
    assert_eq!(payload, bench.calls()[2].event);
    drop(bench);
    std::fs::remove_dir_all(&data).unwrap();
}
