use super::*;
use crate::iam::Guard;

const TIME: f64 = 1_795_253_400.0;

struct Bench {
    bus: Bus,
    client: reqwest::Client,
}

/// No rules, and an SQS that is not called.
fn nowhere() -> Arc<Targets> {
    let stories = Stories::off();
    Arc::new(Targets { rules: Vec::new(), sqs: Sqs::new("http://127.0.0.1:9", &[]).unwrap(), stories })
}

impl Bench {
    async fn start() -> Self {
        Self {
            bus: Bus::start(0, Guard::of_nobody(), nowhere(), KEPT).await.unwrap(),
            client: crate::aws_json::local_client().unwrap(),
        }
    }

    async fn put(&self, details: &[&str]) -> (u16, Value) {
        self.call("PutEvents", json!({ "Entries": details.iter().map(|detail| entry(detail)).collect::<Vec<_>>() }))
            .await
    }

    async fn call(&self, action: &str, request: Value) -> (u16, Value) {
        let call = self.client.post(self.bus.url()).header("x-amz-target", format!("AWSEvents.{action}"));
        let answer = call.body(request.to_string()).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

fn entry(detail: &str) -> Value {
    json!({ "EventBusName": "notes", "Source": "notes", "DetailType": "Told", "Detail": detail, "Time": TIME })
}

#[tokio::test]
async fn the_bus_shows_events_as_targets_would_receive_them() {
    let bench = Bench::start().await;
    let (status, answer) = bench.put(&[r#"{"a":1}"#]).await;
    assert_eq!((status, &answer["FailedEntryCount"]), (200, &json!(0)));
    let expected = json!({
        "version": "0", "id": answer["Entries"][0]["EventId"], "detail-type": "Told", "source": "notes",
        "account": ACCOUNT, "time": "2026-11-21T09:30:00Z", "region": REGION, "resources": [], "detail": { "a": 1 },
    });
    assert_eq!(bench.bus.events(), [expected]);
}

#[tokio::test]
async fn a_failed_entry_does_not_fail_the_others() {
    let bench = Bench::start().await;
    bench.bus.fail(|entry| entry.detail.contains('2').then_some("ThrottlingException"));
    let (_, answer) = bench.put(&[r#"{"a":1}"#, r#"{"a":2}"#, "no object"]).await;
    assert_eq!(answer["FailedEntryCount"], 2);
    let codes: Vec<_> = answer["Entries"].as_array().unwrap().iter().map(|entry| &entry["ErrorCode"]).collect();
    assert_eq!(codes, [&Value::Null, &json!("ThrottlingException"), &json!("MalformedDetail")]);
    bench.bus.heal();
    bench.put(&[r#"{"a":2}"#]).await;
    let details: Vec<_> = bench.bus.events().into_iter().map(|event| event["detail"].clone()).collect();
    assert_eq!(details, [json!({ "a": 1 }), json!({ "a": 2 })]);
}

#[tokio::test]
async fn the_bus_keeps_the_newest_events() {
    let bench = Bench::start().await;
    for number in 0..=KEPT / MOST_ENTRIES {
        bench.put(&[format!(r#"{{"call":{number}}}"#).as_str(); MOST_ENTRIES]).await;
    }
    let events = bench.bus.events();
    assert_eq!((events.len(), &events[0]["detail"]["call"]), (KEPT, &json!(1)));
}

#[tokio::test]
async fn a_call_beyond_the_limits_is_refused_as_a_whole() {
    let bench = Bench::start().await;
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(MOST_BYTES / 2));
    for details in [vec![], vec!["{}"; MOST_ENTRIES + 1], vec![large.as_str(); 2]] {
        let (status, answer) = bench.put(&details).await;
        assert_eq!((status, &answer["__type"]), (400, &json!("ValidationException")));
    }
    let (status, answer) = bench.call("ListRules", json!({})).await;
    assert_eq!((status, &answer["__type"]), (400, &json!("UnknownOperationException")));
    assert_eq!(bench.bus.events(), Vec::<Value>::new());
}
