use crate::iam::Guard;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::queue::Queues;
use crate::test_stack::{Bench, Call, dies_after, queue, template};
use crate::{Functions, Options, Stack};

#[tokio::test]
async fn an_invocation_that_overruns_is_killed_with_its_environment() {
    let bench = Bench::start(template(|_| {}), |call| async move {
        if call.environment == 0 { std::future::pending().await } else { Ok(Value::Null) }
    });
    let bench = bench.await;
    bench.send(&["a"]).await;
    assert_eq!(bench.after(2).await[1].environment, 1);
    bench.until_there_are(0, 0).await;
}

#[tokio::test]
async fn a_panic_is_a_crash() {
    let bench = Bench::start(template(|_| {}), |call| async move {
        assert_ne!(call.environment, 0, "the first environment panics");
        Ok(Value::Null)
    });
    let bench = bench.await;
    bench.send(&["a"]).await;
    assert_eq!(bench.after(2).await[1].environment, 1);
}

#[tokio::test]
async fn killed_invocations_come_back_by_their_visibility_timeout_in_new_environments() {
    let template = template(|template| {
        template.queue_sources[0].maximum_concurrency = 2;
        template.queue_sources[0].batch_size = 1;
        template.functions[0].timeout_seconds = 60;
    });
    let bench = Bench::start(template, |call| async move {
        if call.environment < 2 { std::future::pending().await } else { Ok(Value::Null) }
    });
    let bench = bench.await;
    bench.send(&["a", "b"]).await;
    bench.after(2).await;
    bench.stack.kill("import-notes").unwrap();

    let calls = bench.after(4).await;
    assert!(calls[2..].iter().all(|call| call.environment >= 2));
    bench.until_there_are(0, 0).await;
    let error = bench.stack.kill("get-note").unwrap_err().to_string();
    assert_eq!(error, "get-note consumes nothing here");
}

#[tokio::test]
async fn redriven_dead_letters_are_consumed_again_with_their_attributes() {
    let repaired = Arc::new(AtomicUsize::new(0));
    let repair = Arc::clone(&repaired);
    let template = template(|template| dies_after(template, 1));
    let bench = Bench::start(template, move |call| {
        let repaired = repaired.load(Ordering::Relaxed) == 1;
        async move { if repaired { Ok(Value::Null) } else { Ok(call.failing(&["a", "b"])) } }
    });
    let bench = bench.await;
    let attributes = json!({ "kind": { "DataType": "String", "StringValue": "note" } });
    for body in ["a", "b"] {
        bench.sqs.send("writes", &json!(body), &attributes).await.unwrap();
    }
    bench.until_there_are(0, 2).await;
    let none = json!({ "visible": 0, "inFlight": 0, "delayed": 0 });
    let two = json!({ "visible": 2, "inFlight": 0, "delayed": 0 });
    assert_eq!(bench.local(reqwest::Method::GET, "queues").await, json!({ "writes": none, "dead": two }));

    repair.store(1, Ordering::Relaxed);
    let before = bench.calls().len();
    let step = |moved: u64| json!([{ "from": "dead", "to": "writes", "moved": moved, "left": 0 }]);
    assert_eq!(bench.local(reqwest::Method::POST, "redrive").await, step(2));
    bench.until_there_are(0, 0).await;
    assert_eq!(bench.local(reqwest::Method::POST, "redrive").await, step(0));

    let again = bench.calls().split_off(before);
    let records = again.iter().flat_map(|call| call.event["Records"].as_array().unwrap());
    let kinds: Vec<_> = records.map(|record| &record["messageAttributes"]["kind"]["stringValue"]).collect();
    assert_eq!(kinds, ["note", "note"]);
}

#[tokio::test]
async fn a_stop_lets_invocations_finish_and_kept_messages_are_consumed_after_the_next_start() {
    let data = std::env::temp_dir().join(format!("devstack-sources-{}", uuid::Uuid::new_v4()));
    let options = || Options { data: Some(data.clone()), ..Options::new(template(|_| {})) };
    let finished = Arc::new(AtomicUsize::new(0));
    let finish = Arc::clone(&finished);
    let slow = move |call: Call| {
        let finished = Arc::clone(&finish);
        async move {
            if call.bodies().contains(&"slow") {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            finished.fetch_add(1, Ordering::Relaxed);
            Ok(Value::Null)
        }
    };
    let bench = Bench::start_with(options(), slow.clone()).await;
    bench.send(&["quick"]).await;
    bench.after(1).await;
    bench.send(&["left"]).await;
    bench.stack.shutdown().await.unwrap();
    assert_eq!(finished.load(Ordering::Relaxed), 1);

    let bench = Bench::start_with(options(), slow).await;
    assert_eq!(bench.after(1).await[0].bodies(), ["left"]);
    bench.until_there_are(0, 0).await;
    bench.send(&["slow"]).await;
    bench.after(2).await;
    let began = Instant::now();
    bench.stack.shutdown().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "a stop does not wait for the function's own timeout");
    std::fs::remove_dir_all(&data).unwrap();
}

#[tokio::test]
async fn another_sqs_can_take_the_place_of_the_embedded_one() {
    let other = Queues::start(0, None, Guard::of_nobody()).await.unwrap();
    let at_other =
        |template: Template| Options { sqs_endpoint: Some(other.url().to_owned()), ..Options::new(template) };
    let bench = Bench::start_with(at_other(template(|_| {})), |_| async { Ok(Value::Null) }).await;
    assert_eq!(bench.stack.sqs_url(), other.url());
    bench.send(&["a"]).await;
    bench.after(1).await;
    bench.until_there_are(0, 0).await;
    bench.stack.shutdown().await.unwrap();

    let changed = template(|template| queue(template).visibility_timeout_seconds = 9);
    let error = Stack::start(at_other(changed), |_, _| Ok(Functions::default())).await.err().unwrap().to_string();
    let url = other.url();
    assert_eq!(error, format!("the queue writes at {url} has other attributes than the template says: delete it"));
}

#[tokio::test]
async fn an_event_source_without_its_consumer_is_named() {
    let outcome = Stack::start(Options::new(template(|_| {})), |_, _| Ok(Functions::default())).await;
    let error = outcome.err().unwrap().to_string();
    assert_eq!(error, "nothing consumes the events of ImportNotes: the stack was given no consumer import-notes");
}
