//! The wire between the functions and DynamoDB: it records every call, and can make any of them go wrong.
//!
//! For tests. An embedded engine never throttles, conflicts or loses a connection, and AWS does all three, so a test
//! asks the wire for it. The wire asks for the consumed capacity of every call, and keeps the figures to itself unless the
//! client asked, too. Cutting a connection really closes it: the client sees what it would see in production.

mod capacity;
mod fault;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

pub use self::capacity::{Access, Consumed};
pub use self::fault::{Fault, Match};

use self::fault::Rule;
use crate::aws_json::local_client;
use crate::listen::{loopback, url_of};

/// One call as it went over the wire.
#[derive(Debug, Clone)]
pub struct Call {
    /// `TransactWriteItems`, say.
    pub action: String,
    /// What the client asked.
    pub request: Value,
    /// What was answered, heard or not. Null if nothing was.
    pub response: Value,
    /// None: the connection was cut before there was an answer.
    pub status: Option<u16>,
    /// The capacity that the engine reports, per table. A refused call reports none, though AWS bills for it.
    pub consumed: Vec<Consumed>,
    /// What the wire did to this call.
    pub fault: Option<Fault>,
}

/// A recording, fault-injecting proxy in front of one DynamoDB endpoint. It stops when dropped.
pub struct Wire {
    url: String,
    line: Arc<Line>,
    accepting: JoinHandle<()>,
}

impl Wire {
    /// Starts a wire to the endpoint with this base URL.
    pub async fn start(upstream: &str) -> Result<Self> {
        let listener = loopback(0, "--dynamodb-port").await?;
        let url = url_of(&listener)?;
        let line = Arc::new(Line { client: local_client()?, upstream: upstream.to_owned(), state: Mutex::default() });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&line)));
        Ok(Self { url, line, accepting })
    }

    /// Where clients should call.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Does this to the next `times` calls that match. Of several rules for one call, the oldest applies.
    pub fn inject(&self, matching: Match, fault: Fault, times: usize) {
        self.line.state().rules.push(Rule { matching, fault, times });
    }

    /// How many faults still wait for a call. A test that injects faults should leave none.
    pub fn pending(&self) -> usize {
        self.line.state().rules.iter().map(|rule| rule.times).sum()
    }

    /// Every call so far, in the order of their ends.
    pub fn calls(&self) -> Vec<Call> {
        self.line.state().calls.clone()
    }

    /// Every call since the last time of asking.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.line.state().calls)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// What every connection shares.
struct Line {
    client: reqwest::Client,
    upstream: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    rules: Vec<Rule>,
}

async fn accept(listener: TcpListener, line: Arc<Line>) {
    // Aborting this task drops the set, and with it every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, Arc::clone(&line)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, line: Arc<Line>) {
    let service = service_fn(|request| {
        let line = Arc::clone(&line);
        // In its own task: like DynamoDB, the wire finishes a call although the client has hung up.
        async move { tokio::spawn(async move { line.pass(request).await }).await? }
    });
    // A service that fails makes hyper close the connection without another byte, which is what a cut is.
    _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

impl Line {
    /// Takes one call; an error cuts the connection.
    async fn pass(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let action = action_of(&head.headers);
        let request: Value = serde_json::from_slice(&body).context("a call is not JSON")?;

        let fault = fault::next(&mut self.state().rules, &action, &request);
        let mut call = Call { action, request, response: Value::Null, status: None, consumed: Vec::new(), fault };
        let outcome = self.answer(&head.headers, &mut call).await;
        let cut = matches!(call.fault, Some(Fault::CutBefore | Fault::CutAfter));
        self.state().calls.push(call);
        outcome.and_then(|response| if cut { Err(anyhow!("the connection is cut")) } else { Ok(response) })
    }

    async fn answer(&self, headers: &HeaderMap, call: &mut Call) -> Result<Response<Full<Bytes>>> {
        let mut asked = call.request.clone();
        let mut unprocessed = None;
        match &call.fault {
            Some(Fault::CutBefore) => bail!("the connection is cut"),
            Some(Fault::Delay(delay)) => tokio::time::sleep(*delay).await,
            Some(Fault::Unprocessed(count)) => unprocessed = Some(fault::hold_back(&mut asked, *count)),
            Some(fault) => {
                if let Some((status, body)) = fault.refusal(&call.request) {
                    (call.status, call.response) = (Some(status), body);
                    return Ok(Response::builder().status(status).body(Full::from(call.response.to_string()))?);
                }
            }
            None => {}
        }

        let wants_figures = capacity::ask(&call.action, &mut asked);
        let answer = self.forward(headers, &asked).await?;
        let (head, mut body) = answer.into_parts();
        call.consumed = capacity::read(&call.action, &body);
        if let Some(fields) = body.as_object_mut() {
            if !wants_figures {
                fields.remove("ConsumedCapacity");
            }
            if let Some(keys) = unprocessed {
                fields.insert("UnprocessedKeys".to_owned(), keys);
            }
        }

        let bytes = Full::from(body.to_string());
        (call.status, call.response) = (Some(head.status.as_u16()), body);
        Ok(Response::from_parts(head, bytes))
    }

    async fn forward(&self, headers: &HeaderMap, body: &Value) -> Result<Response<Value>> {
        let mut headers = headers.clone();
        for stale in [CONTENT_LENGTH, HOST, TRANSFER_ENCODING] {
            headers.remove(stale);
        }
        let sending = self.client.post(&self.upstream).headers(headers).body(body.to_string()).send();
        let response = sending.await.with_context(|| format!("no DynamoDB answers at {}", self.upstream))?;

        let mut answer = Response::builder().status(response.status());
        for (name, value) in response.headers() {
            // The body is written anew, so its length and checksum are, too.
            if ![CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) && name != "x-amz-crc32" {
                answer = answer.header(name, value);
            }
        }
        Ok(answer.body(response.json().await?)?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it held the lock has failed already.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `DynamoDB_20120810.Query` is `Query`.
fn action_of(headers: &HeaderMap) -> String {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    target.rsplit('.').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
