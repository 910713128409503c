//! Accepts connections, and forwards their calls.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method, Request, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::MappedMutexGuard;

use super::fault::{self, Fault};
use super::hold::Holds;
use super::limit::{self, Meter};
use super::rule::{self, Rule};
use super::{Access, Call, capacity, serve_or_cut};
use crate::aws_json::{dummy_signature, local_client};
use crate::browser_guard::BrowserGuard;
use crate::forward::forward;
use crate::iam::{self, Caller, Guard};
use crate::stories::{Arrived, Stories};

/// The target prefix of DynamoDB Streams, which is a service of its own.
const STREAMS: &str = "DynamoDBStreams_";

/// State that all connections share.
pub(super) struct Line {
    client: reqwest::Client,
    upstream: String,
    /// The access key for forwarded calls, if not the sender's.
    access_key: Option<String>,
    guard: Option<Arc<Guard>>,
    browsers: BrowserGuard,
    /// The stories, and the name of the service.
    teller: Option<(Arc<Stories>, &'static str)>,
    records: bool,
    state: Mutex<State>,
    /// The calls in progress: when each began, and its number.
    under_way: Mutex<BTreeSet<(Instant, u64)>>,
    calls_begun: AtomicU64,
    pub(super) holds: Holds,
    /// Locked by a limited write until it is debited, so that the next write sees its consumption.
    pub(super) meter: tokio::sync::Mutex<Option<Meter>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) calls: Vec<Call>,
    pub(super) rules: Vec<Rule>,
}

/// Serves all connections.
pub(super) async fn accept(listener: TcpListener, line: Arc<Line>) {
    let pass = move |request| {
        let line = Arc::clone(&line);
        async move { line.pass(request).await }
    };
    serve_or_cut(listener, pass).await;
}

impl Line {
    pub(super) fn new(
        upstream: &str,
        access_key: Option<&str>,
        guard: Option<Arc<Guard>>,
        browsers: BrowserGuard,
        teller: Option<(Arc<Stories>, &'static str)>,
        records: bool,
    ) -> Result<Self> {
        Ok(Self {
            client: local_client()?,
            upstream: upstream.to_owned(),
            access_key: access_key.map(str::to_owned),
            guard,
            browsers,
            teller,
            records,
            state: Mutex::default(),
            under_way: Mutex::default(),
            calls_begun: AtomicU64::default(),
            holds: Holds::default(),
            meter: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it held the lock has failed already.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn busy_since(&self) -> Option<Instant> {
        self.under_way().first().map(|(began, _)| *began)
    }

    fn under_way(&self) -> MutexGuard<'_, BTreeSet<(Instant, u64)>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one call; an error cuts the connection.
    async fn pass(self: &Arc<Self>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
        let _under_way = UnderWay::begin(self);
        let (head, body) = request.into_parts();
        if let Err(refusal) = self.browsers.check(&head.uri, &head.headers) {
            return Ok(refusal.of_aws());
        }
        let body = body.collect().await?.to_bytes();
        let target = target_of(&head.headers).to_owned();
        let action = target.rsplit('.').next().unwrap_or_default().to_owned();
        let request: Value = serde_json::from_slice(&body).context("a call is not JSON")?;
        let access_key = iam::caller(&head.headers);
        let arrived = self.teller.as_ref().map(|(stories, _)| stories.arrived(access_key, &action, &body));
        let checked = self.guard.as_ref().map_or(Ok(()), |guard| guard.check_dynamodb(access_key, &target, &request));
        if target.starts_with(STREAMS) {
            // The event source reads the stream, not the function: such calls are checked, but not recorded.
            if let Err(denial) = checked {
                return Ok(Response::builder().status(400).body(Full::from(denial.of_dynamodb().to_string()))?);
            }
            return Ok(self.forward(&head.headers, &request).await?.map(|body| Full::from(body.to_string())));
        }

        // IAM is checked before faults: a denied call uses up no fault.
        let fault = checked.as_ref().ok().and_then(|()| rule::next(&mut self.state().rules, &action, &request));
        let cut = matches!(fault, Some(Fault::CutBefore | Fault::CutAfter));
        let caller = access_key.map(Caller::of);
        let mut call = Call {
            caller: caller.map(|caller| caller.function.to_owned()),
            environment: caller.and_then(|caller| caller.environment),
            action,
            request,
            response: Value::Null,
            status: None,
            at: Instant::now(),
            took: Duration::ZERO,
            consumed: Vec::new(),
            fault,
        };
        if let Some(Fault::Late(delay)) = call.fault {
            self.forward_later(head.headers.clone(), &call, arrived.as_ref(), delay);
        }
        let outcome = match checked {
            Ok(()) => self.answer(&head.headers, &mut call, arrived.as_ref()).await,
            Err(denial) => refuse(&mut call, (400, denial.of_dynamodb())),
        };
        if let (Some((stories, service)), Some(arrived)) = (&self.teller, &arrived) {
            stories.called(arrived, &call, service);
        }
        if self.records {
            self.state().calls.push(call);
        }
        outcome.and_then(|response| if cut { Err(anyhow!("the connection is cut")) } else { Ok(response) })
    }

    async fn answer(
        &self,
        headers: &HeaderMap,
        call: &mut Call,
        arrived: Option<&Arrived>,
    ) -> Result<Response<Full<Bytes>>> {
        let mut asked = call.request.clone();
        let mut unprocessed = None;
        match &call.fault {
            Some(Fault::CutBefore | Fault::Late(_)) => bail!("the connection is cut"),
            Some(Fault::Delay(delay)) => tokio::time::sleep(*delay).await,
            Some(Fault::Held(gate)) => gate.passed().await,
            Some(Fault::Unprocessed(count)) => unprocessed = Some(fault::hold_back(&mut asked, *count)),
            Some(fault) => {
                if let Some(refusal) = fault.refusal(&call.request) {
                    return refuse(call, refusal);
                }
            }
            None => {}
        }

        let under_way = match self.holds.hold(&call.action, &call.request) {
            Ok(held) => held,
            Err(fault) => {
                let refusal = fault.refusal(&call.request).context("a conflict is a refusal")?;
                call.fault = Some(fault);
                return refuse(call, refusal);
            }
        };
        if let Some(transaction) = &under_way {
            tokio::time::sleep(transaction.time).await;
        }

        let mut meter = self.meter_of(&call.action).await;
        let beyond = meter.as_mut().and_then(|meter| meter.refusal(&call.action, &call.request, Instant::now()));
        if let Some(fault) = beyond
            && let Some(refusal) = fault.refusal(&call.request)
        {
            call.fault = Some(fault);
            return refuse(call, refusal);
        }

        let wants_figures = capacity::ask(&call.action, &mut asked);
        let sent = Instant::now();
        let answer = self.carry_out(headers, &call.action, &asked, arrived).await;
        call.at = Instant::now();
        call.took = call.at - sent;
        let (head, mut body) = answer?.into_parts();
        call.consumed = capacity::read(&call.action, &body);
        if let Some(meter) = &mut meter {
            meter.debit(&call.consumed, call.at);
        }

        if let Some(fields) = body.as_object_mut() {
            if !wants_figures {
                fields.remove("ConsumedCapacity");
            }
            if let Some(keys) = unprocessed {
                fields.insert("UnprocessedKeys".to_owned(), keys);
            }
        }
        let bytes = if body.is_null() { Full::default() } else { Full::from(body.to_string()) };
        (call.status, call.response) = (Some(head.status.as_u16()), body);
        Ok(Response::from_parts(head, bytes))
    }

    /// The meter, if there is a limit and it applies to this action.
    async fn meter_of(&self, action: &str) -> Option<MappedMutexGuard<'_, Meter>> {
        if !limit::WRITES.contains(&action) {
            return None;
        }
        tokio::sync::MutexGuard::try_map(self.meter.lock().await, Option::as_mut).ok()
    }

    /// Forwards a call after this time. Nobody waits for its response.
    fn forward_later(self: &Arc<Self>, headers: HeaderMap, call: &Call, arrived: Option<&Arrived>, delay: Duration) {
        let under_way = UnderWay::begin(self);
        let (action, request, arrived) = (call.action.clone(), call.request.clone(), arrived.cloned());
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            _ = under_way.0.carry_out(&headers, &action, &request, arrived.as_ref()).await;
        });
    }

    /// Forwards a call, whose writes the stream's records are compared with.
    async fn carry_out(
        &self,
        headers: &HeaderMap,
        action: &str,
        request: &Value,
        arrived: Option<&Arrived>,
    ) -> Result<Response<Value>> {
        let (Some((stories, "DynamoDB")), Some(arrived)) = (&self.teller, arrived) else {
            return self.forward(headers, request).await;
        };
        let writing = stories.writing(arrived, action, request);
        let answer = self.forward(headers, request).await;
        let took_effect = answer.as_ref().is_ok_and(|answer| answer.status().is_success());
        // A transaction whose token is known already writes nothing, and consumes read units.
        let consumed = answer.as_ref().map(|answer| capacity::read(action, answer.body())).unwrap_or_default();
        let is_repeated = !consumed.is_empty() && consumed.iter().all(|consumed| consumed.access == Access::Read);
        stories.wrote(writing, took_effect && !is_repeated);
        answer
    }

    async fn forward(&self, headers: &HeaderMap, body: &Value) -> Result<Response<Value>> {
        let mut headers = headers.clone();
        if let Some(key) = &self.access_key {
            headers.insert(AUTHORIZATION, dummy_signature(key, "dynamodb").parse()?);
        }
        let answer = forward(&self.client, Method::POST, self.upstream.clone(), &headers, body.to_string()).await;
        let answer = answer.with_context(|| format!("no DynamoDB answers at {}", self.upstream))?;
        let (mut head, bytes) = answer.into_parts();
        // The body is serialized anew, so its checksum changes.
        head.headers.remove("x-amz-crc32");
        // Several SQS actions answer with an empty body.
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes)? };
        Ok(Response::from_parts(head, body))
    }
}

/// A call in progress. It ends when this is dropped.
struct UnderWay(Arc<Line>, (Instant, u64));

impl UnderWay {
    fn begin(line: &Arc<Line>) -> Self {
        let number = line.calls_begun.fetch_add(1, Ordering::Relaxed);
        let call = (Instant::now(), number);
        line.under_way().insert(call);
        Self(Arc::clone(line), call)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way().remove(&self.1);
    }
}

/// Answers instead of the engine, to which the call is not forwarded.
fn refuse(call: &mut Call, (status, body): (u16, Value)) -> Result<Response<Full<Bytes>>> {
    call.at = Instant::now();
    (call.status, call.response) = (Some(status), body);
    Ok(Response::builder().status(status).body(Full::from(call.response.to_string()))?)
}

/// The target of a call, for example `DynamoDB_20120810.Query`.
fn target_of(headers: &HeaderMap) -> &str {
    headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default()
}
