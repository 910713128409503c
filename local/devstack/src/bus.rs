//! The embedded EventBridge: `PutEvents` on a loopback port. It keeps the newest events for inspection, and sends those
//! that a rule of the template matches to the rule's queues.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::browser_guard::BrowserGuard;
use crate::iam::{self, Denial, Guard};
use crate::listen::{loopback, url_of};
use crate::problem::answer;
use crate::resource::{ACCOUNT, REGION, bucket_arn};
use crate::sqs::Sqs;
use crate::stories::Stories;
use crate::template::{Bucket, DEFAULT_BUS, Rule};

/// The number of events that a stack keeps unless it injects faults.
pub(crate) const KEPT: usize = 1000;

const MOST_ENTRIES: usize = 10;

/// The largest call, counted as EventBridge counts: 256 KB.
const MOST_BYTES: usize = 256 * 1024;

/// The bytes that EventBridge counts for an entry's time.
const BYTES_OF_TIME: usize = 14;

/// One entry of a `PutEvents`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Entry {
    /// The name of the bus, or its ARN.
    pub event_bus_name: String,
    /// The source of the event, for example `notes.app`.
    pub source: String,
    /// Its kind: `NoteWritten`.
    pub detail_type: String,
    /// JSON.
    pub detail: String,
    /// The time of the event, in seconds since 1970.
    pub time: Option<f64>,
}

/// Decides which entries fail, and with which `ErrorCode`.
type Faults = Box<dyn FnMut(&Entry) -> Option<&'static str> + Send>;

type Served = (Arc<Mutex<Inside>>, Arc<Guard>, Arc<Targets>);

/// The rules, and the queues to which they send events.
pub(crate) struct Targets {
    pub(crate) rules: Vec<Rule>,
    pub(crate) sqs: Sqs,
    pub(crate) stories: Arc<Stories>,
}

impl Targets {
    /// Sends on the event that S3 sends for a new object.
    pub(crate) async fn tell_of_object(&self, bucket: &Bucket, key: &str, size: usize) {
        let event = json!({
            "version": "0",
            "id": Uuid::new_v4().to_string(),
            "detail-type": "Object Created",
            "source": "aws.s3",
            "account": ACCOUNT,
            "time": format!("{:.0}", Timestamp::now()),
            "region": REGION,
            "resources": [bucket_arn(&bucket.name)],
            "detail": {
                "version": "0",
                "bucket": { "name": bucket.name },
                "object": { "key": key, "size": size },
                "reason": "PutObject",
            },
        });
        self.send(DEFAULT_BUS, &event).await;
    }

    /// Sends an event to the queues of each rule that matches it, before the caller gets its answer. On AWS it is
    /// sent shortly after that.
    async fn send(&self, bus: &str, event: &Value) {
        let name = bus.rsplit('/').next().unwrap_or_default();
        let matching = self.rules.iter().filter(|rule| rule.bus == name && rule.pattern.matches(event));
        for queue in matching.flat_map(|rule| &rule.queues) {
            match self.sqs.send(queue, &Value::from(event.to_string()), &Value::Null).await {
                Ok(message) => self.stories.routed(event["id"].as_str().unwrap_or_default(), &message),
                Err(error) => tracing::error!(queue, "an event of the bus was not sent on: {error:#}"),
            }
        }
    }
}

/// A running EventBridge. It stops when dropped.
pub struct Bus {
    url: String,
    inside: Arc<Mutex<Inside>>,
    serving: JoinHandle<std::io::Result<()>>,
}

struct Inside {
    /// The events as targets would receive them, oldest first.
    events: VecDeque<Value>,
    /// The most of them.
    kept: usize,
    faults: Option<Faults>,
}

impl Bus {
    /// Starts it. It keeps so many of the newest events for [`events`](Self::events).
    pub(crate) async fn start(port: u16, guard: Arc<Guard>, targets: Arc<Targets>, kept: usize) -> Result<Self> {
        let listener = loopback(port, "eventbridge_port").await?;
        let (url, browsers) = (url_of(&listener)?, BrowserGuard::of(&listener)?);
        let inside = Arc::new(Mutex::new(Inside { events: VecDeque::new(), kept, faults: None }));
        let router = Router::new().fallback(handle).with_state((Arc::clone(&inside), guard, targets));
        let serving = tokio::spawn(axum::serve(listener, browsers.protect(router)).into_future());
        Ok(Self { url, inside, serving })
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The newest accepted events, as targets would receive them, oldest first.
    pub fn events(&self) -> Vec<Value> {
        lock(&self.inside).events.iter().cloned().collect()
    }

    /// From now on fails each entry for which `faults` returns an `ErrorCode`, such as `ThrottlingException`.
    pub fn fail(&self, faults: impl FnMut(&Entry) -> Option<&'static str> + Send + 'static) {
        lock(&self.inside).faults = Some(Box::new(faults));
    }

    /// Accepts all entries again.
    pub fn heal(&self) {
        lock(&self.inside).faults = None;
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn handle(State((inside, guard, targets)): State<Served>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let mut accepted = Vec::new();
    let outcome = match target {
        "AWSEvents.PutEvents" => entries(&body).and_then(|entries| {
            let checked = guard.check_events(iam::caller(&headers), &entries);
            checked.map_err(|Denial(message)| ("AccessDeniedException", message))?;
            Ok(put(&mut lock(&inside), entries, &mut accepted))
        }),
        other => Err(("UnknownOperationException", format!("{other:?} is not known to the laptop stack"))),
    };
    for (bus, event) in &accepted {
        targets.send(bus, event).await;
    }
    let (status, body) = match outcome {
        Ok(body) => (StatusCode::OK, body),
        Err((code, message)) => (StatusCode::BAD_REQUEST, json!({ "__type": code, "message": message })),
    };
    answer(status, "application/x-amz-json-1.1", body.to_string())
}

/// The entries of a call, or the reason why EventBridge refuses the whole call.
fn entries(body: &[u8]) -> Result<Vec<Entry>, (&'static str, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct PutEvents {
        entries: Vec<Entry>,
    }

    let PutEvents { entries } =
        serde_json::from_slice(body).map_err(|error| ("SerializationException", error.to_string()))?;
    let bytes: usize = entries.iter().map(size).sum();
    if !(1..=MOST_ENTRIES).contains(&entries.len()) {
        return Err(("ValidationException", format!("{} entries are not 1 to {MOST_ENTRIES}", entries.len())));
    }
    if bytes > MOST_BYTES {
        return Err((
            "ValidationException",
            format!("Total size of the entries in the request is over the limit: {bytes}"),
        ));
    }
    Ok(entries)
}

fn size(Entry { source, detail_type, detail, time, .. }: &Entry) -> usize {
    source.len() + detail_type.len() + detail.len() + time.map_or(0, |_| BYTES_OF_TIME)
}

fn put(inside: &mut Inside, entries: Vec<Entry>, accepted: &mut Vec<(String, Value)>) -> Value {
    let answers: Vec<Value> = entries.into_iter().map(|entry| take(inside, &entry, accepted)).collect();
    let failed = answers.iter().filter(|answer| answer["ErrorCode"].is_string()).count();
    json!({ "FailedEntryCount": failed, "Entries": answers })
}

/// Takes an entry, and adds the event to those that were accepted, each with its bus.
fn take(inside: &mut Inside, entry: &Entry, accepted: &mut Vec<(String, Value)>) -> Value {
    if let Some(code) = inside.faults.as_mut().and_then(|faults| faults(entry)) {
        return json!({ "ErrorCode": code, "ErrorMessage": "It was told to fail." });
    }
    let detail = match serde_json::from_str::<Value>(&entry.detail) {
        Ok(detail) if detail.is_object() => detail,
        _ => return json!({ "ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed." }),
    };
    tracing::info!(bus = entry.event_bus_name, "{} {detail}", entry.detail_type);
    let id = Uuid::new_v4().to_string();
    let event = json!({
        "version": "0",
        "id": id,
        "detail-type": entry.detail_type,
        "source": entry.source,
        "account": ACCOUNT,
        "time": format!("{:.0}", entry.time.and_then(moment).unwrap_or_else(Timestamp::now)),
        "region": REGION,
        "resources": [],
        "detail": detail,
    });
    accepted.push((entry.event_bus_name.clone(), event.clone()));
    inside.events.push_back(event);
    if inside.events.len() > inside.kept {
        inside.events.pop_front();
    }
    json!({ "EventId": id })
}

fn moment(seconds: f64) -> Option<Timestamp> {
    Timestamp::UNIX_EPOCH.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
}

fn lock(inside: &Mutex<Inside>) -> MutexGuard<'_, Inside> {
    inside.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "bus_tests.rs"]
mod tests;
