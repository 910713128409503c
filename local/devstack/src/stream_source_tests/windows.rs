use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::template::Template;
use crate::test_stack::{Bench, Call, stream_template};
use crate::wait::{PATIENCE, until_some};

/// A window that does not end during a test.
const ENDLESS: u64 = 1_000_000_000;

fn template(seconds: u64) -> Template {
    stream_template(|source| source.tumbling_window_seconds = seconds)
}

/// A consumer's answer that counts the records of a window.
fn counted(call: &Call) -> Value {
    let records = call.event["Records"].as_array().unwrap().len();
    let before = call.event["state"]["records"].as_u64().unwrap_or_default();
    json!({ "state": { "records": before + u64::try_from(records).unwrap() } })
}

fn flags(call: &Call) -> (&Value, bool, bool) {
    let flag = |name: &str| call.event[name].as_bool().unwrap();
    (&call.event["state"], flag("isFinalInvokeForWindow"), flag("isWindowTerminatedEarly"))
}

fn window(seconds: i64) -> i64 {
    Timestamp::now().as_second().div_euclid(seconds)
}

/// Waits until a window of this many seconds begins, and returns its number.
async fn beginning_of_a_window(seconds: i64) -> i64 {
    let into = Timestamp::now().as_millisecond().rem_euclid(seconds * 1000);
    tokio::time::sleep(Duration::from_millis(u64::try_from(seconds * 1000 - into).unwrap())).await;
    window(seconds)
}

/// A bench that has put these records into one window of this many seconds: one batch after the other.
async fn with_one_window(template: &Template, seconds: i64, batches: &[&[&str]]) -> Bench {
    until_some("a window does not end between two records", async || {
        let bench = Bench::start(template.clone(), |call| async move { Ok(counted(&call)) }).await;
        let began = beginning_of_a_window(seconds).await;
        for (at, keys) in batches.iter().enumerate() {
            if at > 0 {
                bench.stack.settle(PATIENCE).await.unwrap();
            }
            bench.put(keys).await;
        }
        (window(seconds) == began).then_some(bench)
    })
    .await
}

#[tokio::test]
async fn invocations_of_a_window_pass_their_state_on_and_the_last_one_ends_it() {
    let bench = with_one_window(&template(2), 2, &[&["a", "b"], &["c"]]).await;
    let calls = bench.after(3).await;
    assert_eq!(flags(&calls[0]), (&json!({}), false, false));
    assert_eq!(flags(&calls[1]), (&json!({ "records": 2 }), false, false));
    assert_eq!(flags(&calls[2]), (&json!({ "records": 3 }), true, false));
    assert_eq!([calls[0].keys(), calls[1].keys(), calls[2].keys()], ["a b", "c", ""]);

    let last = &calls[2].event;
    let time = |name: &str| last["window"][name].as_str().unwrap().parse::<Timestamp>().unwrap().as_second();
    assert_eq!((time("start") % 2, time("end") - time("start")), (0, 2));
    assert!(last["window"]["end"].as_str().unwrap().ends_with('Z'));
    assert_eq!(last["shardId"], "shardId-00000001-devstack-table");
    assert_eq!(last["eventSourceARN"], calls[0].event["Records"][0]["eventSourceARN"]);
    assert!(calls.iter().all(|call| call.event["window"] == last["window"]));

    bench.put(&["d"]).await;
    let calls = bench.settled().await;
    assert_eq!((flags(&calls[3]), calls[3].keys()), ((&json!({}), false, false), "d".to_owned()));
    assert!(calls[3].event["window"]["start"].as_str() > last["window"]["start"].as_str());
}

#[tokio::test]
async fn a_batch_ends_its_window_if_the_next_record_belongs_to_a_later_one() {
    let mut template = template(1);
    template.stream_sources[0].batching_window_seconds = 30;
    let bench = with_one_window(&template, 1, &[&["a", "b"]]).await;
    beginning_of_a_window(1).await;
    bench.put(&["c"]).await;
    let calls = bench.settled().await;
    assert_eq!((flags(&calls[0]), calls[0].keys()), ((&json!({}), true, false), "a b".to_owned()));
    assert_eq!((flags(&calls[1]), calls[1].keys()), ((&json!({}), false, false), "c".to_owned()));
}

#[tokio::test]
async fn an_answer_without_a_state_is_a_failure() {
    let bench = Bench::start(template(ENDLESS), |_| async { Ok(json!({ "batchItemFailures": [] })) }).await;
    bench.put(&["a"]).await;
    assert_eq!(bench.batches().await, ["a", "a", "a"]);
    assert_eq!(bench.given_up().await.len(), 1);
}

#[tokio::test]
async fn a_failed_invocation_is_retried_with_the_state_before_it() {
    let bench = Bench::start(template(ENDLESS), |call| async move {
        let failed = call.keys() == "b" && call.environment == 0;
        assert!(!failed, "the first environment panics");
        Ok(counted(&call))
    });
    let bench = bench.await;
    bench.put(&["a"]).await;
    bench.settled().await;
    bench.put(&["b"]).await;
    let calls = bench.settled().await;
    assert_eq!(calls.iter().map(Call::keys).collect::<Vec<_>>(), ["a", "b", "b"]);
    assert_eq!([flags(&calls[1]), flags(&calls[2])], [(&json!({ "records": 1 }), false, false); 2]);
}

#[tokio::test]
async fn the_last_invocation_of_a_window_is_retried_like_a_batch() {
    let bench = Bench::start(template(1), |call| async move {
        if call.keys().is_empty() { Err("not now".to_owned()) } else { Ok(counted(&call)) }
    });
    let bench = bench.await;
    bench.put(&["a"]).await;
    let calls = bench.after(4).await;
    assert!(calls[1..].iter().all(|call| flags(call) == (&json!({ "records": 1 }), true, false)));
    bench.put(&["b"]).await;
    let calls = bench.settled().await;
    assert_eq!((flags(&calls[4]), calls[4].keys()), ((&json!({}), false, false), "b".to_owned()));
}

#[tokio::test]
async fn a_state_that_is_too_large_ends_early_and_the_window_continues_with_a_fresh_one() {
    let bench =
        Bench::start(template(ENDLESS), |_| async { Ok(json!({ "state": { "all": "x".repeat(1024 * 1024) } })) });
    let bench = bench.await;
    bench.put(&["a"]).await;
    bench.settled().await;
    bench.put(&["b"]).await;
    let calls = bench.settled().await;
    assert_eq!(calls.iter().map(Call::keys).collect::<Vec<_>>(), ["a", "", "b"]);
    assert!(calls[1].event["isWindowTerminatedEarly"].as_bool().unwrap());
    assert_eq!(flags(&calls[2]), (&json!({}), false, false));
}
