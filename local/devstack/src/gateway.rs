//! The HTTP gateway: routes and scopes of the template in front of the functions, as API Gateway does it. Its own errors
//! (401, 403, 404, 413, 500, 503) are API Gateway's, too: `{"message": "Unauthorized"}`. The log has the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use base64::prelude::{BASE64_URL_SAFE, Engine as _};
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::browser_guard::BrowserGuard;
use crate::bus::Bus;
use crate::event::{self, Passed, decoded};
use crate::openid::OpenIdIssuer;
use crate::pages::Pages;
use crate::problem::{PROBLEM_JSON, Reason, answer, gateway_error, problem, unauthorized};
use crate::sqs::Sqs;
use crate::stories::{Invocation, Stories};
use crate::template::{Cors, Route, Template};
use crate::token::Tokens;
use crate::{redrive, requests, scheduled};

pub use crate::invoke::Invoke;

/// The largest request that Lambda accepts: 6 MB.
const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

/// The most that an HTTP API accepts as request line and header values together.
const MAX_HEAD_BYTES: usize = 10_240;

/// The header in which API Gateway tells the id of a request.
const REQUEST_ID: &str = "apigw-requestid";

/// Prefix of the routes that only the laptop has.
const LOCAL: &str = "/_local/";

/// The longest that an HTTP API waits for a function, whatever the function's own timeout is.
const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// The gateway's state. [`router`] serves it over HTTP.
pub(crate) struct Gateway {
    pub(crate) routes: Routes,
    pub(crate) tokens: Tokens,
    /// Who issues the tokens, if it is not the stack.
    pub(crate) issuer: Option<OpenIdIssuer>,
    /// The scopes of the template's routes.
    pub(crate) scopes: BTreeSet<String>,
    pub(crate) cors: Option<Cors>,
    pub(crate) sqs: Sqs,
    pub(crate) bus: Arc<Bus>,
    /// Functions that a schedule invokes on AWS, by name.
    pub(crate) scheduled: BTreeMap<String, Invoke>,
    pub(crate) stories: Arc<Stories>,
    pub(crate) openapi: &'static str,
    /// The pages of the program that runs the stack.
    pub(crate) pages: Pages,
    /// What the stack's own commands need.
    pub(crate) connection: Value,
}

/// The template's routes, each with its function.
pub(crate) struct Routes {
    served: Vec<Served>,
    /// The index of the route, by method and path.
    by_path: BTreeMap<String, matchit::Router<usize>>,
}

struct Served {
    route: Route,
    timeout: Duration,
    /// Whether the function may not run: its reserved concurrency is 0.
    is_closed: bool,
    invoke: Invoke,
}

impl Routes {
    /// Puts the functions, named by their handlers, behind the template's routes.
    pub(crate) fn new(template: &Template, functions: &[(String, Invoke)]) -> Result<Self> {
        let mut routes = Self { served: Vec::new(), by_path: BTreeMap::new() };
        for route in &template.routes {
            let function = template
                .function(&route.function)
                .with_context(|| format!("the template has no function {}", route.function))?;
            let named = functions.iter().find(|(handler, _)| *handler == function.handler);
            let (_, invoke) = named.with_context(|| {
                let Route { method, path, .. } = route;
                format!("nothing answers {method} {path}: the stack was given no handler {}", function.handler)
            })?;
            let paths = routes.by_path.entry(route.method.clone()).or_default();
            paths.insert(&route.path, routes.served.len()).with_context(|| route.path.clone())?;
            let timeout = Duration::from_secs(function.timeout_seconds).min(MAX_TIMEOUT);
            let is_closed = function.reserved_concurrency == Some(0);
            routes.served.push(Served { route: route.clone(), timeout, is_closed, invoke: Arc::clone(invoke) });
        }
        Ok(routes)
    }

    /// The route for this path, with the path's decoded parameters. A literal segment wins over a parameter.
    fn find(&self, method: &Method, path: &str) -> Option<(&Served, BTreeMap<String, String>)> {
        let found = self.by_path.get(method.as_str())?.at(path).ok()?;
        let parameters = found.params.iter().map(|(name, value)| (name.to_owned(), decoded(value)));
        Some((self.served.get(*found.value)?, parameters.collect()))
    }
}

impl Gateway {
    async fn handle(&self, request: Request, request_id: &str) -> Response<Body> {
        if let Some(answer) = self.cors_of(request.uri().path()).and_then(|cors| cors.preflight(&request)) {
            return answer;
        }
        let (head, body) = request.into_parts();
        let body = match read(body).await {
            Received::Whole(body) => body,
            Received::TooLarge => return gateway_error(StatusCode::PAYLOAD_TOO_LARGE, "a body is at most 6 MB"),
            Received::CutOff => return gateway_error(StatusCode::BAD_REQUEST, "the body ended before it was complete"),
        };
        match (&head.method, head.uri.path()) {
            (&Method::POST, "/_local/token") => self.issue_token(&body),
            (&Method::GET, "/_local/connection") => {
                answer(StatusCode::OK, "application/json", self.connection.to_string())
            }
            (&Method::GET, "/_local/queues") => Self::about_queues(self.sqs.counts().await),
            (&Method::GET, "/_local/events") => {
                answer(StatusCode::OK, "application/json", json!({ "items": self.bus.events() }).to_string())
            }
            (&Method::POST, "/_local/redrive") => Self::about_queues(redrive::step(&self.sqs).await),
            (&Method::POST, path) if let Some(function) = path.strip_prefix("/_local/scheduled/") => {
                let invocation = self.stories.request(request_id, "POST", path);
                let answer = scheduled::invoke(self.scheduled.get(function), &body, invocation.clone()).await;
                invocation.answered(answer.status().as_u16());
                answer
            }
            (&Method::GET, path) if let Some(path) = path.strip_prefix("/_local/requests") => {
                requests::get(&self.stories, path)
            }
            (&Method::GET, "/openapi.json") => answer(StatusCode::OK, "application/json", self.openapi.to_owned()),
            (method, path) => match self.routes.find(method, path) {
                Some((served, path_parameters)) => {
                    let route = &served.route;
                    let story = self.stories.request(request_id, method.as_str(), path);
                    let answer = match self.authorize(route, &head.headers).await {
                        Ok(claims) => {
                            let (head, body) = (&head, &body);
                            let passed = Passed { head, body, route, request_id, path_parameters, claims };
                            self.call(served, passed.event(), story.clone()).await
                        }
                        Err(refusal) => refusal,
                    };
                    story.answered(answer.status().as_u16());
                    answer
                }
                None => self.pages.answer(Request::from_parts(head, Body::from(body))).await,
            },
        }
    }

    /// The CORS rules for this path. The stack's own routes have none.
    fn cors_of(&self, path: &str) -> Option<&Cors> {
        self.cors.as_ref().filter(|_| !path.starts_with(LOCAL))
    }

    /// The claims of the caller's token if the route requires one, or the refusal.
    async fn authorize(
        &self,
        route: &Route,
        headers: &HeaderMap,
    ) -> Result<Option<Map<String, Value>>, Response<Body>> {
        if route.scopes.is_empty() {
            return Ok(None);
        }
        let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = header.strip_prefix("Bearer ").unwrap_or(header);
        let Some(claims) = self.verify(token).await else {
            let origin = match &self.issuer {
                Some(issuer) => format!("{} issues them", issuer.url()),
                None => "POST /_local/token has one".to_owned(),
            };
            let reason = format!("send Authorization: Bearer and a valid token; {origin}");
            return Err(unauthorized(!token.is_empty(), &route.scopes, reason));
        };

        let granted = claims.get("scope").and_then(Value::as_str).unwrap_or_default();
        if granted.split(' ').any(|scope| route.scopes.iter().any(|wanted| wanted == scope)) {
            return Ok(Some(claims));
        }
        let scopes = route.scopes.join(" or ");
        Err(gateway_error(StatusCode::FORBIDDEN, format!("this route needs a token with the scope {scopes}")))
    }

    async fn verify(&self, token: &str) -> Option<Map<String, Value>> {
        match (self.tokens.verify(token), &self.issuer) {
            (None, Some(issuer)) => issuer.verify(token).await,
            (claims, _) => claims,
        }
    }

    fn issue_token(&self, body: &[u8]) -> Response<Body> {
        if let Some(issuer) = &self.issuer {
            let detail = format!("The stack issues no tokens: {} does.", issuer.url());
            return problem(StatusCode::NOT_FOUND, &detail);
        }
        let wanted = match serde_json::from_slice::<TokenRequest>(body) {
            Ok(wanted) => wanted,
            Err(error) => return problem(StatusCode::BAD_REQUEST, &error.to_string()),
        };
        let scope = self.scopes.iter().find(|scope| **scope == wanted.scope || short(scope) == wanted.scope);
        let Some(scope) = scope else {
            let known: Vec<_> = self.scopes.iter().map(|scope| short(scope)).collect();
            let detail = format!("scope: {:?} is not one of {}", wanted.scope, known.join(", "));
            return problem(StatusCode::BAD_REQUEST, &detail);
        };
        match self.tokens.issue(&wanted.sub, scope, wanted.email.as_deref()) {
            Ok(token) => {
                let body = json!({ "token": token }).to_string();
                answer(StatusCode::OK, "application/json", body)
            }
            Err(error) => {
                tracing::error!("{error:#}");
                problem(StatusCode::INTERNAL_SERVER_ERROR, "The token could not be issued.")
            }
        }
    }

    fn about_queues<T: Serialize>(outcome: Result<T>) -> Response<Body> {
        match outcome.map(|answer| json!(answer).to_string()) {
            Ok(body) => answer(StatusCode::OK, "application/json", body),
            Err(error) => {
                tracing::error!("{error:#}");
                problem(StatusCode::INTERNAL_SERVER_ERROR, "The queues did not answer. The cause is in the log.")
            }
        }
    }

    /// Runs the function in a task of its own, as on Lambda: a panic stays there, and the function goes on if the
    /// client hangs up.
    async fn call(&self, served: &Served, event: Value, story: Invocation) -> Response<Body> {
        if served.is_closed {
            return gateway_error(StatusCode::SERVICE_UNAVAILABLE, "the reserved concurrency of the function is 0");
        }
        let call = story.run(tokio::time::timeout(served.timeout, (served.invoke)(event)));
        let outcome = match tokio::spawn(call).await {
            Ok(Ok(Ok(answer))) => event::response(answer).map_err(|error| format!("{error:#}")),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err(format!("timed out after {} s", served.timeout.as_secs())),
            Err(error) => Err(error.to_string()),
        };
        outcome.unwrap_or_else(|error| {
            tracing::error!(function = served.route.function, error, "function failed");
            gateway_error(StatusCode::INTERNAL_SERVER_ERROR, "the function failed")
        })
    }
}

/// The part of a scope behind its resource server: `read` of `notes/read`.
fn short(scope: &str) -> &str {
    scope.rsplit('/').next().unwrap_or(scope)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRequest {
    sub: String,
    /// A scope of the template, by its short or full name.
    scope: String,
    /// The address that the token says is verified.
    email: Option<String>,
}

/// The gateway as an axum service. It logs one line for each request.
pub(crate) fn router(gateway: Arc<Gateway>, browsers: BrowserGuard) -> Router {
    Router::new().fallback(serve).with_state((gateway, browsers))
}

async fn serve(State((gateway, browsers)): State<(Arc<Gateway>, BrowserGuard)>, request: Request) -> Response<Body> {
    let began = Instant::now();
    // As API Gateway's: sixteen characters.
    let request_id = BASE64_URL_SAFE.encode(&Uuid::new_v4().into_bytes()[..11]);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let allowed = gateway.cors_of(&path).and_then(|cors| Some((cors, cors.allowed(request.headers())?)));
    let mut response = match refused(&request, browsers) {
        Some(refusal) => refusal,
        None => gateway.handle(request, &request_id).await,
    };
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if let Some((cors, origin)) = allowed {
        cors.allow(response.headers_mut(), origin);
    }
    let (told, response) = told(response).await;
    let status = response.status().as_u16();
    let millis = began.elapsed().as_millis();
    tracing::info!(id = request_id, "{method} {path} {status}{told} {millis} ms");
    response
}

/// What the log tells of an answer, after a space: the last part of a problem's type, or the reason for a refusal of the
/// gateway. Empty: it has neither.
async fn told(response: Response<Body>) -> (String, Response<Body>) {
    if let Some(Reason(reason)) = response.extensions().get() {
        return (format!(" ({reason})"), response);
    }
    if response.headers().get(header::CONTENT_TYPE).is_none_or(|media_type| media_type != PROBLEM_JSON) {
        return (String::new(), response);
    }
    let (head, body) = response.into_parts();
    // The body is in memory already, so reading it cannot fail.
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = problem["type"].as_str().and_then(|uri| uri.rsplit('/').next()).filter(|name| *name != "about:blank");
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    (name, Response::from_parts(head, Body::from(body)))
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
        return Some(problem(refusal.status(), refusal.detail()));
    }
    (size_of_head(request) > MAX_HEAD_BYTES).then(|| {
        let most = "the request line and the values of the headers are at most 10,240 bytes together";
        gateway_error(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, most)
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

#[cfg(test)]
#[path = "gateway_tests/mod.rs"]
mod tests;
