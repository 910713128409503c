//! The embedded SQS: `winterbaume-sqs` on a loopback port, in memory. A file keeps its messages between two runs, even
//! if the first one crashed.

mod backend;
mod front;
mod journal;
mod kept;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use winterbaume_sqs::SqsService;

use self::backend::Backend;
use self::front::{Fault, Outcome};
use self::journal::Journal;
use self::kept::Kept;
use crate::browser_guard::BrowserGuard;
use crate::iam::{self, Denial, Guard};
use crate::listen::{loopback, url_of};

/// The largest message and the largest batch of SQS, since August 2025.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// The file within a data directory.
const QUEUES_FILE: &str = "queues.json";

/// The error code of SQS for a caller whose role does not allow the call. Its status is 403.
const ACCESS_DENIED: &str = "AccessDenied";

type Served = (Arc<SqsService>, Arc<Guard>);

/// A running SQS. It stops when dropped. Its file is then as if the process had been killed.
pub(crate) struct Queues {
    url: String,
    backend: Arc<Backend>,
    file: Option<PathBuf>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Queues {
    /// Starts an SQS without queues. Messages kept in `data` return when their queue is created.
    pub(crate) async fn start(port: u16, data: Option<&Path>, guard: Arc<Guard>) -> Result<Self> {
        let file = data.map(|directory| directory.join(QUEUES_FILE));
        let (journal, kept) = match &file {
            Some(file) => {
                let (journal, kept) = Journal::open(file)?;
                (Some(journal), kept)
            }
            None => (None, Kept::default()),
        };
        let backend = Arc::new(Backend::resuming(kept, journal));
        let listener = loopback(port, "sqs_port").await?;
        let (url, browsers) = (url_of(&listener)?, BrowserGuard::of(&listener)?);

        let library = Arc::new(SqsService::with_backend(Arc::clone(&backend) as _));
        // A batch of 1 MiB is longer than 1 MiB as JSON, and SQS itself must refuse what is too long.
        let router = Router::new().fallback(handle).layer(DefaultBodyLimit::disable()).with_state((library, guard));
        let (stop, stopped) = oneshot::channel();
        let server =
            axum::serve(listener, browsers.protect(router)).with_graceful_shutdown(async { _ = stopped.await });
        let serving = tokio::spawn(server.into_future());
        Ok(Self { url, backend, file, stop, serving })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Lets running calls finish within this time, then writes the messages to the file.
    pub(crate) async fn shutdown(self, grace: Duration) -> Result<()> {
        _ = self.stop.send(());
        // A long poll outlasts the grace period, and loses nothing.
        _ = tokio::time::timeout(grace, self.serving).await;
        let Some(file) = self.file else { return Ok(()) };
        self.backend.keep().write(&file)?;
        Journal::remove(&file)
    }
}

async fn handle(State((library, guard)): State<Served>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let action = target.rsplit('.').next().unwrap_or_default();
    let outcome = match serde_json::from_slice(&body) {
        Ok(request) => match guard.check_sqs(iam::caller(&headers), action, &request) {
            Ok(()) => front::answer(&library, action, request).await,
            Err(Denial(message)) => Err(Fault { code: ACCESS_DENIED.to_owned(), message }),
        },
        Err(error) => Err(Fault { code: "SerializationException".to_owned(), message: error.to_string() }),
    };
    response(outcome)
}

fn response(outcome: Outcome) -> Response<Body> {
    let (status, body, code) = match outcome {
        Ok(Value::Null) => (StatusCode::OK, String::new(), None),
        Ok(answer) => (StatusCode::OK, answer.to_string(), None),
        Err(Fault { code, message }) => {
            let body = json!({ "__type": code, "message": message }).to_string();
            // SDKs read the error code from this header, which dates from the XML protocol of SQS.
            let status = if code == ACCESS_DENIED { StatusCode::FORBIDDEN } else { StatusCode::BAD_REQUEST };
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
