//! The HTTP gateway: routes and scopes of the template in front of the functions, as API Gateway does it.
//!
//! One difference is deliberate. API Gateway's own errors (401, 403, 404, 413, 500) are a bare `{"message":
//! "Unauthorized"}`, and no setting changes that. Here they are problem documents like all other errors, with that
//! `message` in them.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_api::Kind;
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::browser_guard::BrowserGuard;
use crate::bus::Bus;
use crate::event::{self, Passed, decoded};
use crate::problem::{answer, plain_problem, problem};
use crate::sqs::Sqs;
use crate::template::{Route, Template};
use crate::token::Tokens;
use crate::{redrive, scheduled};

/// A function: an event in, its answer or an error message out.
pub type Invoke = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send>> + Send + Sync>;

/// The largest request that Lambda accepts: 6 MB.
const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

/// The most that an HTTP API accepts as request line and header values together.
const MAX_HEAD_BYTES: usize = 10_240;

/// Prefix of the routes that only the laptop has.
const LOCAL: &str = "/_local/";

/// The longest that an HTTP API waits for a function, whatever the function's own timeout is.
const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// The gateway's state. [`router`] serves it over HTTP.
pub(crate) struct Gateway {
    routes: Vec<Served>,
    tokens: Tokens,
    sqs: Sqs,
    bus: Arc<Bus>,
    /// Functions that a schedule invokes on AWS, by name.
    scheduled: BTreeMap<String, Invoke>,
    openapi: String,
}

struct Served {
    route: Route,
    timeout: Duration,
    invoke: Invoke,
}

impl Gateway {
    /// Puts the functions, named by their handlers, behind the template's routes.
    pub(crate) fn new(
        template: &Template,
        functions: &[(String, Invoke)],
        tokens: Tokens,
        sqs: Sqs,
        bus: Arc<Bus>,
        scheduled: BTreeMap<String, Invoke>,
        openapi: String,
    ) -> Result<Self> {
        let routes = template.routes.iter().map(|route| {
            let missing =
                || format!("nothing answers {} {}: this build has no {}", route.method, route.path, route.function);
            let function = template.function(&route.function).with_context(missing)?;
            let named = functions.iter().find(|(binary, _)| *binary == function.handler);
            let (_, invoke) = named.with_context(missing)?;
            let timeout = Duration::from_secs(function.timeout_seconds).min(MAX_TIMEOUT);
            Ok(Served { route: route.clone(), timeout, invoke: Arc::clone(invoke) })
        });
        Ok(Self { routes: routes.collect::<Result<_>>()?, tokens, sqs, bus, scheduled, openapi })
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    async fn handle(&self, request: Request) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = match read(body).await {
            Received::Whole(body) => body,
            Received::TooLarge => return problem(Kind::TooLarge, "A request body is at most 6 MB."),
            Received::CutOff => return problem(Kind::Validation, "The body ended before it was complete."),
        };
        match (&head.method, head.uri.path()) {
            (&Method::POST, "/_local/token") => self.issue_token(&body),
            (&Method::GET, "/_local/queues") => about_queues(self.sqs.counts().await),
            (&Method::GET, "/_local/events") => {
                answer(StatusCode::OK, "application/json", json!({ "items": self.bus.events() }).to_string())
            }
            (&Method::POST, "/_local/redrive") => about_queues(redrive::step(&self.sqs).await),
            (&Method::POST, path) if let Some(function) = path.strip_prefix("/_local/scheduled/") => {
                scheduled::invoke(self.scheduled.get(function), &body).await
            }
            (&Method::GET, "/openapi.json") => answer(StatusCode::OK, "application/json", self.openapi.clone()),
            (method, path) => match self.find(method, path) {
                Some((served, path_parameters)) => match self.authorize(&served.route, &head.headers) {
                    Ok(claims) => {
                        let passed = Passed { head: &head, body: &body, route: &served.route, path_parameters, claims };
                        served.call(passed.event()).await
                    }
                    Err((kind, detail)) => problem(kind, &detail),
                },
                None => problem(Kind::NotFound, &format!("No route matches {method} {path}.")),
            },
        }
    }

    /// The route for this path. A literal segment wins over a parameter.
    fn find(&self, method: &Method, path: &str) -> Option<(&Served, BTreeMap<String, String>)> {
        let candidates = self.routes.iter().filter(|served| served.route.method == method.as_str());
        let matching = candidates.filter_map(|served| Some((served, parameters(&served.route.path, path)?)));
        matching.min_by_key(|(_, parameters)| parameters.len())
    }

    /// The claims of the caller's token if the route requires one, or the reason for a refusal.
    fn authorize(&self, route: &Route, headers: &HeaderMap) -> Result<Option<Map<String, Value>>, (Kind, String)> {
        if route.scopes.is_empty() {
            return Ok(None);
        }
        let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = header.strip_prefix("Bearer ").unwrap_or(header);
        let claims = self.tokens.verify(token).ok_or_else(|| {
            (Kind::Unauthorized, "Send Authorization: Bearer and a valid token; POST /_local/token has one.".to_owned())
        })?;

        let granted = claims.get("scope").and_then(Value::as_str).unwrap_or_default();
        if granted.split(' ').any(|scope| route.scopes.iter().any(|wanted| wanted == scope)) {
            return Ok(Some(claims));
        }
        Err((Kind::Forbidden, format!("This route needs a token with the scope {}.", route.scopes.join(" or "))))
    }

    fn issue_token(&self, body: &[u8]) -> Response<Body> {
        let wanted = match serde_json::from_slice::<TokenRequest>(body) {
            Ok(wanted) => wanted,
            Err(error) => return problem(Kind::Validation, &error.to_string()),
        };
        let scope = match wanted.scope {
            TokenScope::Shop => http_api::SHOP_SCOPE,
            TokenScope::Admin => http_api::ADMIN_SCOPE,
        };
        match self.tokens.issue(&wanted.sub, scope) {
            Ok(token) => {
                let body = json!({ "token": token }).to_string();
                answer(StatusCode::OK, "application/json", body)
            }
            Err(error) => {
                tracing::error!("{error:#}");
                problem(Kind::Internal, "The token could not be issued.")
            }
        }
    }
}

fn about_queues<T: Serialize>(outcome: Result<T>) -> Response<Body> {
    match outcome.map(|answer| json!(answer).to_string()) {
        Ok(body) => answer(StatusCode::OK, "application/json", body),
        Err(error) => {
            tracing::error!("{error:#}");
            problem(Kind::Internal, "The queues did not answer. The cause is in the log.")
        }
    }
}

impl Served {
    /// Runs the function in a task of its own, as on Lambda: a panic stays there, and the function goes on if the
    /// client hangs up.
    async fn call(&self, event: Value) -> Response<Body> {
        let call = tokio::time::timeout(self.timeout, (self.invoke)(event));
        let outcome = match tokio::spawn(call).await {
            Ok(Ok(Ok(answer))) => event::response(answer).map_err(|error| format!("{error:#}")),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err(format!("timed out after {} s", self.timeout.as_secs())),
            Err(error) => Err(error.to_string()),
        };
        outcome.unwrap_or_else(|error| {
            tracing::error!(function = self.route.function, error, "function failed");
            problem(Kind::Internal, "The request could not be answered. Its cause is in the log.")
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRequest {
    sub: String,
    scope: TokenScope,
}

/// A scope, by its short or full name.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TokenScope {
    #[serde(alias = "till/shop")]
    Shop,
    #[serde(alias = "till/admin")]
    Admin,
}

/// The gateway as an axum service. It logs one line for each request.
pub(crate) fn router(gateway: Arc<Gateway>, browsers: BrowserGuard) -> Router {
    Router::new().fallback(logged).with_state((gateway, browsers))
}

async fn logged(State((gateway, browsers)): State<(Arc<Gateway>, BrowserGuard)>, request: Request) -> Response<Body> {
    let began = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = match refused(&request, browsers) {
        Some(refusal) => refusal,
        None => gateway.handle(request).await,
    };
    tracing::info!("{method} {path} {} {} ms", response.status().as_u16(), began.elapsed().as_millis());
    response
}

/// The refusal of a request because of its head, if there is one.
fn refused(request: &Request, browsers: BrowserGuard) -> Option<Response<Body>> {
    let checked = BrowserGuard::check_host(request.uri(), request.headers());
    // A page of another origin may call the API, as on AWS: without a token it gets nothing that needs one. The
    // laptop's own routes need no token, so no such page may call them.
    let checked = if request.uri().path().starts_with(LOCAL) {
        checked.and_then(|()| browsers.check_origin(request.headers()))
    } else {
        checked
    };
    if let Err(refusal) = checked {
        return Some(plain_problem(refusal.status(), refusal.detail()));
    }
    (size_of_head(request) > MAX_HEAD_BYTES).then(|| {
        plain_problem(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "The request line and the values of the headers are at most 10,240 bytes together.",
        )
    })
}

/// The size of a request's head as an HTTP API counts it: the request line and the header values.
fn size_of_head(request: &Request) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let line = request.method().as_str().len() + target + " HTTP/1.1 ".len();
    line + request.headers().values().map(HeaderValue::len).sum::<usize>()
}

/// The body of a request.
enum Received {
    Whole(Vec<u8>),
    TooLarge,
    /// The client hung up or broke the framing before the end of the body.
    CutOff,
}

/// Reads the body. A body that is too large is still read to its end, so that the client receives the reason.
async fn read(mut body: Body) -> Received {
    let mut bytes = Vec::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Received::CutOff };
        if let Ok(data) = frame.into_data() {
            size += data.len();
            if size <= MAX_BODY_BYTES {
                bytes.extend_from_slice(&data);
            }
        }
    }
    if size <= MAX_BODY_BYTES { Received::Whole(bytes) } else { Received::TooLarge }
}

/// The path's decoded parameters, if the path matches the template.
fn parameters(template: &str, path: &str) -> Option<BTreeMap<String, String>> {
    let (wanted, given): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    if wanted.len() != given.len() {
        return None;
    }
    let mut parameters = BTreeMap::new();
    for (wanted, given) in wanted.into_iter().zip(given) {
        match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(_) if given.is_empty() => return None,
            Some(name) => _ = parameters.insert(name.to_owned(), decoded(given)),
            None if wanted == given => {}
            None => return None,
        }
    }
    Some(parameters)
}

#[cfg(test)]
#[path = "gateway_tests.rs"]
mod tests;
