use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::aws_json::local_client;
use crate::gateway::Invoke;
use crate::queue::Queues;
use crate::template::Redrive;
use crate::{Functions, Options, Stack, StartConsumer, Template};

const TEMPLATE: &str = r"
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
  WriteQueue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: writes
      RedrivePolicy: { deadLetterTargetArn: !GetAtt DeadLetters.Arn, maxReceiveCount: 5 }
  DeadLetters: { Type: AWS::SQS::Queue, Properties: { QueueName: dead } }
  DrainWrites:
    Type: AWS::Serverless::Function
    Metadata: { BuildProperties: { Binary: drain-writes } }
    Properties:
      Timeout: 1
      Events:
        Queue:
          Type: SQS
          Properties:
            Queue: !GetAtt WriteQueue.Arn
            FunctionResponseTypes: [ReportBatchItemFailures]
";

const PATIENCE: Duration = Duration::from_secs(10);

/// With one poller and a visibility timeout of a second, neither of which AWS would take.
fn template(change: impl FnOnce(&mut Template)) -> Template {
    let mut template = Template::parse(TEMPLATE).unwrap();
    template.queue_sources[0].maximum_concurrency = 1;
    queue(&mut template).visibility_timeout_seconds = 1;
    change(&mut template);
    template
}

fn queue(template: &mut Template) -> &mut crate::template::Queue {
    template.queues.iter_mut().find(|queue| queue.name == "writes").unwrap()
}

fn dies_after(template: &mut Template, receives: u64) {
    queue(template).redrive = Some(Redrive { dead_letters: "dead".to_owned(), max_receive_count: receives });
}

/// A stack whose only consumer does as the test says, and remembers what it was given.
struct Bench {
    stack: Stack,
    sqs: Sqs,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// One invocation.
#[derive(Clone)]
struct Call {
    /// How many environments had been started before the one that ran this.
    environment: usize,
    event: Value,
}

impl Call {
    fn bodies(&self) -> Vec<&str> {
        let records = self.event["Records"].as_array().unwrap();
        records.iter().map(|record| record["body"].as_str().unwrap()).collect()
    }

    /// The answer that these bodies failed.
    fn failing(&self, bodies: &[&str]) -> Value {
        let records = self.event["Records"].as_array().unwrap().iter();
        let failed = records.filter(|record| bodies.contains(&record["body"].as_str().unwrap()));
        let failed: Vec<_> = failed.map(|record| json!({ "itemIdentifier": record["messageId"] })).collect();
        json!({ "batchItemFailures": failed })
    }
}

impl Bench {
    async fn start<F>(template: Template, body: impl Fn(Call) -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Self::start_with(Options::new(template), body).await
    }

    async fn start_with<F>(options: Options, body: impl Fn(Call) -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (heard, started) = (Arc::clone(&calls), AtomicUsize::new(0));
        let start: StartConsumer = Arc::new(move || {
            let environment = started.fetch_add(1, Ordering::Relaxed);
            let (heard, body) = (Arc::clone(&heard), body.clone());
            let invoke: Invoke = Arc::new(move |event| {
                let call = Call { environment, event };
                heard.lock().unwrap().push(call.clone());
                Box::pin(body(call))
            });
            Ok(invoke)
        });
        let consumers = vec![("drain-writes".to_owned(), start)];
        let functions = Functions { consumers, ..Functions::default() };
        let stack = Stack::start(options, |_, _| Ok(functions)).await.unwrap();
        let sqs = Sqs::new(stack.sqs_url(), &stack.template().queues).unwrap();
        Self { stack, sqs, calls }
    }

    async fn send(&self, bodies: &[&str]) {
        for body in bodies {
            self.sqs.send("writes", &json!(body), &Value::Null).await.unwrap();
        }
    }

    fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// The calls, once there are as many as this.
    async fn after(&self, calls: usize) -> Vec<Call> {
        self.until(|| async { self.calls().len() >= calls }).await;
        self.calls()
    }

    /// Until the queues have as many messages as this, in whatever state.
    async fn until_there_are(&self, writes: u64, dead: u64) {
        self.until(|| async {
            let counts = self.sqs.counts().await.unwrap();
            let all = |name: &str| counts[name].visible + counts[name].in_flight + counts[name].delayed;
            (all("writes"), all("dead")) == (writes, dead)
        })
        .await;
    }

    async fn until<F: Future<Output = bool>>(&self, holds: impl Fn() -> F) {
        let waiting = async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("it happens in time");
    }

    /// What the stack says about itself.
    async fn local(&self, method: reqwest::Method, path: &str) -> Value {
        let request = local_client().unwrap().request(method, format!("{}/_local/{path}", self.stack.url()));
        request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
    }
}

#[tokio::test]
async fn a_message_comes_as_lambda_spells_it_and_is_gone_after_success() {
    let bench = Bench::start(template(|_| {}), |_| async { Ok(Value::Null) }).await;
    let attributes = json!({
        "kind": { "DataType": "String", "StringValue": "order" },
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
    let kind = lists(json!({ "stringValue": "order", "dataType": "String" }));
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
async fn a_batch_that_does_not_fill_goes_when_its_window_ends() {
    let template = template(|template| template.queue_sources[0].batching_window_seconds = 1);
    let bench = Bench::start(template, |_| async { Ok(json!({})) }).await;
    bench.send(&["a"]).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    bench.send(&["b"]).await;
    assert_eq!(bench.after(1).await[0].bodies(), ["a", "b"]);
}

#[tokio::test]
async fn only_what_failed_comes_back_until_it_is_a_dead_letter() {
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
async fn a_panic_is_a_crash_too() {
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
    bench.stack.kill("drain-writes").unwrap();

    let calls = bench.after(4).await;
    assert!(calls[2..].iter().all(|call| call.environment >= 2));
    bench.until_there_are(0, 0).await;
    let error = bench.stack.kill("get-order").unwrap_err().to_string();
    assert_eq!(error, "get-order consumes nothing here");
}

#[tokio::test]
async fn redriven_dead_letters_are_consumed_again_with_their_attributes() {
    let mended = Arc::new(AtomicUsize::new(0));
    let mend = Arc::clone(&mended);
    let template = template(|template| dies_after(template, 1));
    let bench = Bench::start(template, move |call| {
        let mended = mended.load(Ordering::Relaxed) == 1;
        async move { if mended { Ok(Value::Null) } else { Ok(call.failing(&["a", "b"])) } }
    });
    let bench = bench.await;
    let attributes = json!({ "kind": { "DataType": "String", "StringValue": "order" } });
    for body in ["a", "b"] {
        bench.sqs.send("writes", &json!(body), &attributes).await.unwrap();
    }
    bench.until_there_are(0, 2).await;
    let none = json!({ "visible": 0, "inFlight": 0, "delayed": 0 });
    let two = json!({ "visible": 2, "inFlight": 0, "delayed": 0 });
    assert_eq!(bench.local(reqwest::Method::GET, "queues").await, json!({ "writes": none, "dead": two }));

    mend.store(1, Ordering::Relaxed);
    let before = bench.calls().len();
    let step = |moved: u64| json!([{ "from": "dead", "to": "writes", "moved": moved, "left": 0 }]);
    assert_eq!(bench.local(reqwest::Method::POST, "redrive").await, step(2));
    bench.until_there_are(0, 0).await;
    assert_eq!(bench.local(reqwest::Method::POST, "redrive").await, step(0));

    let again = bench.calls().split_off(before);
    let records = again.iter().flat_map(|call| call.event["Records"].as_array().unwrap());
    let kinds: Vec<_> = records.map(|record| &record["messageAttributes"]["kind"]["stringValue"]).collect();
    assert_eq!(kinds, ["order", "order"]);
}

#[tokio::test]
async fn a_stop_lets_invocations_finish_and_kept_messages_are_consumed_after_the_next_start() {
    let data = std::env::temp_dir().join(format!("till-sources-{}", uuid::Uuid::new_v4()));
    let options = || Options { data: Some(data.clone()), ..Options::new(template(|_| {})) };
    let finished = Arc::new(AtomicUsize::new(0));
    let finish = Arc::clone(&finished);
    let slow = move |call: Call| {
        let finished = Arc::clone(&finish);
        async move {
            if call.bodies().contains(&"slow") {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
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
    assert!(began.elapsed() < Duration::from_secs(1), "a stop does not wait for the function's own timeout");
    std::fs::remove_dir_all(&data).unwrap();
}

#[tokio::test]
async fn another_sqs_can_take_the_place_of_the_embedded_one() {
    let other = Queues::start(0, None).await.unwrap();
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
    assert_eq!(error, format!("the queue writes at {url} has other attributes than template.yaml says: delete it"));
}

#[tokio::test]
async fn an_event_source_without_its_consumer_is_named() {
    let outcome = Stack::start(Options::new(template(|_| {})), |_, _| Ok(Functions::default())).await;
    let error = outcome.err().unwrap().to_string();
    assert_eq!(error, "nothing consumes the events of DrainWrites: this build has no such consumer");
}

#[test]
fn an_answer_that_names_nothing_is_success_and_one_that_does_not_read_is_failure() {
    let records = [json!({ "messageId": "a" }), json!({ "messageId": "b" })];
    for success in [json!(null), json!({}), json!({ "batchItemFailures": null }), json!({ "batchItemFailures": [] })] {
        assert_eq!(failures(&success, &records), Ok(BTreeSet::new()), "{success}");
    }
    let named = json!({ "batchItemFailures": [{ "itemIdentifier": "b" }] });
    assert_eq!(failures(&named, &records), Ok(BTreeSet::from(["b".to_owned()])));
    let identifiers = [json!(""), json!(null), json!("c"), json!(1)];
    let identifiers = identifiers.map(|id| json!({ "batchItemFailures": [{ "itemIdentifier": id }] }));
    for failure in
        [json!("done"), json!([]), json!({ "batchItemFailures": "a" }), json!({ "batchItemFailures": ["a"] })]
    {
        assert!(failures(&failure, &records).is_err(), "{failure}");
    }
    assert!(identifiers.iter().all(|failure| failures(failure, &records).is_err()));
}

#[test]
fn an_event_has_at_most_what_lambda_takes() {
    let record = |bytes: usize| json!({ "body": "x".repeat(bytes) });
    let sizes = [MAX_EVENT_BYTES / 2, MAX_EVENT_BYTES / 3, MAX_EVENT_BYTES / 2, 1];
    let events = events(sizes.into_iter().map(record));
    assert_eq!(events.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
}
