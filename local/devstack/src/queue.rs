//! The embedded SQS: standard queues on a loopback port, in memory. A file keeps their messages between two runs, even
//! if the first one crashed.

mod calls;
mod file;
mod message;
mod request;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use self::calls::Sqs;
use self::file::Log;
use self::message::now;
use self::request::{ACCESS_DENIED, Fault, INTERNAL, Outcome};
use crate::browser_guard::BrowserGuard;
use crate::iam::{self, Denial, Guard};
use crate::listen::{loopback, url_of};

/// The file within a data directory.
const QUEUES_FILE: &str = "queues.jsonl";

type Served = (Arc<Mutex<Sqs>>, Arc<Guard>);

/// A running SQS. It stops when dropped. Its file is then as if the process had been killed.
pub(crate) struct Queues {
    url: String,
    sqs: Arc<Mutex<Sqs>>,
    file: Option<PathBuf>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Queues {
    /// Starts an SQS without queues. Messages kept in `data` return when their queue is created.
    pub(crate) async fn start(port: u16, data: Option<&Path>, guard: Arc<Guard>) -> Result<Self> {
        let file = data.map(|directory| directory.join(QUEUES_FILE));
        let sqs = file.as_deref().map_or_else(|| Ok(Sqs::default()), Sqs::kept_in)?;
        let sqs = Arc::new(Mutex::new(sqs));
        let listener = loopback(port, "sqs_port").await?;
        let (url, browsers) = (url_of(&listener)?, BrowserGuard::of(&listener)?);

        // A batch of 1 MiB is longer than 1 MiB as JSON, and SQS itself must refuse what is too long.
        let router = Router::new().fallback(handle).layer(DefaultBodyLimit::disable());
        let router = router.with_state((Arc::clone(&sqs), guard));
        let (stop, stopped) = oneshot::channel();
        let server =
            axum::serve(listener, browsers.protect(router)).with_graceful_shutdown(async { _ = stopped.await });
        let serving = tokio::spawn(server.into_future());
        Ok(Self { url, sqs, file, stop, serving })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Lets running calls finish within this time, then writes the messages to the file as they are.
    pub(crate) async fn shutdown(self, grace: Duration) -> Result<()> {
        _ = self.stop.send(());
        // A long poll outlasts the grace period, and loses nothing.
        _ = timeout(grace, self.serving).await;
        let Some(file) = self.file else { return Ok(()) };
        let mut sqs = lock(&self.sqs);
        sqs.log = Some(Log::create(&file, &sqs.messages)?);
        Ok(())
    }
}

async fn handle(State((sqs, guard)): State<Served>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let action = target.rsplit('.').next().unwrap_or_default();
    let outcome = match serde_json::from_slice(&body) {
        Ok(request) => match guard.check_sqs(iam::caller(&headers), action, &request) {
            Ok(()) if action == "ReceiveMessage" => receive(&sqs, &request).await,
            Ok(()) => lock(&sqs).answer(action, &request),
            Err(Denial(message)) => Err(Fault::new(ACCESS_DENIED, message)),
        },
        Err(error) => Err(Fault::new("SerializationException", error.to_string())),
    };
    response(outcome)
}

/// Receives messages as soon as some are visible. If there are none until the request's wait ends, it answers none.
async fn receive(sqs: &Mutex<Sqs>, request: &Value) -> Outcome {
    let duration = |milliseconds: i64| Duration::from_millis(milliseconds.try_into().unwrap_or_default());
    let end = Instant::now() + duration(lock(sqs).wait(request)? * 1000);
    let arrivals = Arc::clone(&lock(sqs).arrivals);
    loop {
        let arrival = arrivals.notified();
        let (messages, next) = lock(sqs).receive(request)?;
        if !messages.is_empty() {
            return Ok(json!({ "Messages": messages }));
        }
        if Instant::now() >= end {
            return Ok(json!({}));
        }
        let next = next.map_or(end, |next| Instant::now() + duration(next - now()));
        _ = timeout_at(end.min(next), arrival).await;
    }
}

fn lock(sqs: &Mutex<Sqs>) -> MutexGuard<'_, Sqs> {
    sqs.lock().unwrap_or_else(PoisonError::into_inner)
}

fn response(outcome: Outcome) -> Response<Body> {
    let (status, body, code) = match outcome {
        Ok(Value::Null) => (StatusCode::OK, String::new(), None),
        Ok(answer) => (StatusCode::OK, answer.to_string(), None),
        Err(Fault { code, message }) => {
            let body = json!({ "__type": code, "message": message }).to_string();
            let status = match code {
                ACCESS_DENIED => StatusCode::FORBIDDEN,
                INTERNAL => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::BAD_REQUEST,
            };
            // SDKs read the error code from this header, which dates from the XML protocol of SQS.
            (status, body, HeaderValue::try_from(format!("{code};Sender")).ok())
        }
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    headers.extend(code.map(|code| (HeaderName::from_static("x-amzn-query-error"), code)));
    response
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
