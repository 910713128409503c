//! HTTP requests as API Gateway events (payload 2.0), and the functions' answers as HTTP responses.
//!
//! Shapes: <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use uuid::Uuid;

use crate::template::Route;

const STAGE: &str = "$default";

/// A request after a route has matched and the authorizer has accepted it.
pub(crate) struct Passed<'a> {
    pub(crate) head: &'a Parts,
    pub(crate) body: &'a [u8],
    pub(crate) route: &'a Route,
    pub(crate) request_id: &'a str,
    pub(crate) path_parameters: BTreeMap<String, String>,
    /// The token's claims, if the route requires a token.
    pub(crate) claims: Option<Map<String, Value>>,
}

impl Passed<'_> {
    /// The event that the function receives.
    pub(crate) fn event(self) -> Value {
        let Parts { method, uri, version, headers, .. } = self.head;
        let now = Timestamp::now();
        let host = headers.get(header::HOST).map(text).unwrap_or_default();
        let domain = host.split(':').next().unwrap_or_default();
        let route_key = format!("{} {}", self.route.method, self.route.path);
        // API Gateway decodes the path, but not the query.
        let path = decoded(uri.path());
        let query = uri.query().unwrap_or_default();
        let (body, is_base64) = encoded_body(headers, self.body);

        let mut context = json!({
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": domain,
            "domainPrefix": domain.split('.').next(),
            "http": {
                "method": method.as_str(),
                "path": path,
                "protocol": format!("{version:?}"),
                "sourceIp": "127.0.0.1",
                "userAgent": headers.get(header::USER_AGENT).map(text).unwrap_or_default(),
            },
            "requestId": self.request_id,
            "routeKey": route_key,
            "stage": STAGE,
            "time": now.strftime("%d/%b/%Y:%H:%M:%S %z").to_string(),
            "timeEpoch": now.as_millisecond(),
        });
        if let Some(claims) = self.claims {
            let claims: Map<_, _> = claims.into_iter().map(|(name, claim)| (name, claim_text(claim))).collect();
            context["authorizer"] = json!({ "jwt": { "claims": claims, "scopes": self.route.scopes } });
        }

        let mut event = json!({
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": query,
            "headers": event_headers(headers, now),
            "requestContext": context,
            "isBase64Encoded": is_base64,
        });
        // API Gateway leaves these out if they are empty.
        let cookies: Vec<String> = headers.get_all(header::COOKIE).iter().flat_map(cookies_of).collect();
        if !cookies.is_empty() {
            event["cookies"] = json!(cookies);
        }
        let parameters = joined(form_urlencoded::parse(query.as_bytes()).into_owned());
        if !parameters.is_empty() {
            event["queryStringParameters"] = json!(parameters);
        }
        if !self.path_parameters.is_empty() {
            event["pathParameters"] = json!(self.path_parameters);
        }
        if let Some(body) = body {
            event["body"] = Value::String(body);
        }
        event
    }
}

/// Percent-decodes, as API Gateway does with path parameters.
pub(crate) fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn claim_text(claim: Value) -> Value {
    match claim {
        Value::String(_) => claim,
        other => Value::String(other.to_string()),
    }
}

fn cookies_of(header: &HeaderValue) -> Vec<String> {
    text(header).split(';').map(|cookie| cookie.trim().to_owned()).collect()
}

/// Joins the values of each name with commas.
fn joined(pairs: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let mut map: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in pairs {
        map.entry(name).and_modify(|values| *values = format!("{values},{value}")).or_insert(value);
    }
    map
}

fn event_headers(headers: &HeaderMap, now: Timestamp) -> BTreeMap<String, String> {
    let received = headers.iter().filter(|(name, _)| *name != header::COOKIE);
    let mut map = joined(received.map(|(name, value)| (name.to_string(), text(value))));
    let trace = format!("Root=1-{:08x}-{:.24}", now.as_second(), Uuid::new_v4().simple().to_string());
    for (name, value) in [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-port", "443"),
        ("x-forwarded-proto", "https"),
        ("x-amzn-trace-id", &trace),
    ] {
        map.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    map
}

/// The body as text, or in base64 if it is not text.
fn encoded_body(headers: &HeaderMap, body: &[u8]) -> (Option<String>, bool) {
    if body.is_empty() {
        return (None, false);
    }
    let kind = headers.get(header::CONTENT_TYPE).map(text).unwrap_or_default().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let textual = kind.starts_with("text/")
        || matches!(kind, "application/json" | "application/javascript" | "application/xml")
        || kind.ends_with("+json");
    match std::str::from_utf8(body) {
        Ok(body) if textual => (Some(body.to_owned()), false),
        _ => (Some(STANDARD.encode(body)), true),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionAnswer {
    status_code: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    cookies: Vec<String>,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

/// The HTTP response for a function's answer. Unlike API Gateway, this requires a status code, because a function that
/// forgets it would always answer 200. `multiValueHeaders` has no meaning in payload 2.0.
pub(crate) fn response(answer: Value) -> Result<Response<Body>> {
    let answer: FunctionAnswer = serde_json::from_value(answer).context("the answer is no payload 2.0 response")?;
    let body = match answer.body {
        Some(body) if answer.is_base64_encoded => STANDARD.decode(body).context("the body is not base64")?,
        Some(body) => body.into_bytes(),
        None => Vec::new(),
    };

    let status = StatusCode::from_u16(answer.status_code).context("the status code is out of range")?;
    ensure!(!status.is_informational(), "the status code is informational");
    let mut response = Response::builder().status(status);
    let headers = response.headers_mut().context("the response has no headers")?;
    if !body.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain;charset=UTF-8"));
    }
    for (name, value) in answer.headers {
        let name: HeaderName = name.parse().with_context(|| format!("{name} is no header's name"))?;
        // The server writes the framing headers.
        if ![header::CONTENT_LENGTH, header::CONNECTION, header::TRANSFER_ENCODING].contains(&name) {
            headers.insert(name, value.parse().context("a header's value is not valid")?);
        }
    }
    for cookie in answer.cookies {
        headers.append(header::SET_COOKIE, cookie.parse().context("a cookie is not valid")?);
    }
    Ok(response.body(Body::from(body))?)
}
