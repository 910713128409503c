//! Lambda's runtime API for one function: it gives out events one after the other and receives the answers.
//! <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// The longest invocation. Under callgrind everything takes fifty times as long.
const TIME_LIMIT: Duration = Duration::from_mins(5);

pub(super) struct RuntimeApi {
    address: String,
    events: mpsc::UnboundedSender<Value>,
    said: mpsc::UnboundedReceiver<Said>,
    server: JoinHandle<()>,
}

/// A request of the function.
enum Said {
    /// The function requests an event.
    Next,
    /// The function has answered an event.
    Answer(Value),
    /// The function has failed.
    Error(String),
}

struct Exchange {
    events: Mutex<mpsc::UnboundedReceiver<Value>>,
    said: mpsc::UnboundedSender<Said>,
}

impl RuntimeApi {
    pub(super) async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?.to_string();
        let (events, queued) = mpsc::unbounded_channel();
        let (say, said) = mpsc::unbounded_channel();
        let exchange = Arc::new(Exchange { events: Mutex::new(queued), said: say });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answer))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .route("/2018-06-01/runtime/init/error", post(error))
            .with_state(exchange);
        let server = tokio::spawn(async move { _ = axum::serve(listener, router).await });
        Ok(Self { address, events, said, server })
    }

    /// The value of `AWS_LAMBDA_RUNTIME_API`.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until the function requests its first event, which ends its start.
    pub(super) async fn ready(&mut self) -> Result<()> {
        self.asks().await
    }

    /// Gives out an event, and waits until the function has answered it and requests the next one.
    pub(super) async fn invoke(&mut self, event: Value) -> Result<()> {
        self.events.send(event).context("the runtime API has ended")?;
        let answer = match self.hear().await? {
            Said::Answer(answer) => answer,
            Said::Next => anyhow::bail!("the function asked for another event before it answered"),
            Said::Error(error) => anyhow::bail!("the function failed: {error}"),
        };
        ensure!(is_success(&answer), "the function answered {answer}");
        self.asks().await
    }

    async fn asks(&mut self) -> Result<()> {
        match self.hear().await? {
            Said::Next => Ok(()),
            Said::Answer(answer) => anyhow::bail!("the function answered out of turn: {answer}"),
            Said::Error(error) => anyhow::bail!("the function failed: {error}"),
        }
    }

    async fn hear(&mut self) -> Result<Said> {
        let said = tokio::time::timeout(TIME_LIMIT, self.said.recv()).await;
        said.context("the function is silent")?.context("the runtime API has ended")
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Whether the answer is a 2xx response, or a batch response without failures.
fn is_success(answer: &Value) -> bool {
    match &answer["statusCode"] {
        Value::Number(status) => status.as_u64().is_some_and(|status| (200..300).contains(&status)),
        _ => answer["batchItemFailures"].as_array().is_some_and(Vec::is_empty),
    }
}

async fn next(State(exchange): State<Arc<Exchange>>) -> Response {
    _ = exchange.said.send(Said::Next);
    let Some(event) = exchange.events.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TIME_LIMIT;
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd".to_owned()),
        ("lambda-runtime-deadline-ms", deadline.as_millis().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:123456789012:function:measured".to_owned()),
        (
            "lambda-runtime-trace-id",
            "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0".to_owned(),
        ),
    ];
    (headers, event.to_string()).into_response()
}

async fn answer(State(exchange): State<Arc<Exchange>>, Path(_): Path<String>, body: Bytes) -> StatusCode {
    // An answer that is not JSON is a failure.
    _ = exchange.said.send(Said::Answer(serde_json::from_slice(&body).unwrap_or_default()));
    StatusCode::ACCEPTED
}

async fn error(State(exchange): State<Arc<Exchange>>, body: Bytes) -> StatusCode {
    _ = exchange.said.send(Said::Error(String::from_utf8_lossy(&body).into_owned()));
    StatusCode::ACCEPTED
}
