//! A fake DynamoDB that returns a recorded answer for each action.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

/// A running endpoint, on a thread of its own. It stops when dropped.
pub(super) struct Instantly {
    url: String,
    _stop: oneshot::Sender<()>,
}

type Answers = Arc<BTreeMap<String, Bytes>>;

impl Instantly {
    /// Starts an endpoint with these answers, by action. The last answer of an action is used.
    pub(super) fn start(answers: Vec<(String, String)>) -> Result<Self> {
        let answers = answers.into_iter().map(|(action, answer)| (action, Bytes::from(answer))).collect();
        let router = Router::new().fallback(answer).with_state(Answers::new(answers));
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("no port is free")?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let runtime = runtime::Builder::new_current_thread().enable_all().build().context("there is no runtime")?;
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                let listener = listener.tap_io(|connection| _ = connection.set_nodelay(true));
                // Requests that are still open are not measured any more.
                tokio::select! {
                    _ = axum::serve(listener, router) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { url, _stop: stop })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

async fn answer(State(answers): State<Answers>, headers: HeaderMap, _request: Bytes) -> Response<Body> {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let answer = target.rsplit('.').next().and_then(|action| answers.get(action));
    let mut response = Response::new(answer.map_or_else(Body::empty, |answer| Body::from(answer.clone())));
    if answer.is_none() {
        *response.status_mut() = StatusCode::NOT_IMPLEMENTED;
    }
    response
}
