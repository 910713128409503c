//! A client that sends requests to a shop, local or deployed, and its replies.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http_api::{ADMIN_SCOPE, Kind};
use reqwest::{Client as Http, Method, StatusCode};
use serde_json::{Value, json};

use crate::customer_view;
use crate::openapi::{self, Sent};

#[derive(Clone)]
pub struct Client {
    http: Http,
    url: String,
    token: Option<String>,
    /// Whether the token has the admin scope, so that the replies may contain every field.
    is_admin: bool,
    /// Whether the gateway gives its answers the ids of the requests, as AWS does.
    names_requests: bool,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    /// Without the request's id: the client compares it with the header.
    pub body: Value,
}

impl Client {
    /// A client without a token, at the base URL of a gateway.
    pub fn new(http: Http, url: &str) -> Self {
        Self { http, url: url.to_owned(), token: None, is_admin: false, names_requests: true }
    }

    /// The same client, at a gateway whose answers have other ids than the requests.
    #[must_use]
    pub fn without_names_of_requests(self) -> Self {
        Self { names_requests: false, ..self }
    }

    /// The same client, at another base URL.
    #[must_use]
    pub fn at(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// The same client with another token, valid or not.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), is_admin: holds_admin_scope(token), ..self.clone() }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.with(Method::POST, path, &[], body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.with(Method::PUT, path, &[], body).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.with(Method::DELETE, path, &[], Value::Null).await
    }

    /// Changes what has one of the versions that `if_match` names.
    pub async fn patch(&self, path: &str, if_match: &str, body: Value) -> Reply {
        self.with(Method::PATCH, path, &[("if-match", if_match)], body).await
    }

    /// Replaces what has one of these versions.
    pub async fn put_if(&self, path: &str, if_match: &str, body: Value) -> Reply {
        self.with(Method::PUT, path, &[("if-match", if_match)], body).await
    }

    pub async fn post_if(&self, path: &str, if_match: &str, body: Value) -> Reply {
        self.with(Method::POST, path, &[("if-match", if_match)], body).await
    }

    pub async fn post_once(&self, path: &str, key: &str, body: Value) -> Reply {
        self.with(Method::POST, path, &[("idempotency-key", key)], body).await
    }

    /// Sends a request with this body, or without one if it is null.
    pub async fn with(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Value) -> Reply {
        self.send(method, path, headers, (!body.is_null()).then(|| body.to_string())).await
    }

    pub async fn order(&self, key: &str, body: Value) -> Reply {
        self.post_once("/orders", key, body).await
    }

    /// Sends a request, and checks the reply against the API's description.
    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Option<String>) -> Reply {
        let mut request = self.http.request(method.clone(), format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = &body {
            request = request.header("content-type", "application/json").body(body.clone());
        }
        let response = request.send().await.expect("the gateway answers");
        let received = response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().expect("a text header").to_owned()));
        let mut reply = Reply { status: response.status().as_u16(), headers: received.collect(), body: Value::Null };
        let text = response.text().await.expect("text");
        if ![204, 304].contains(&reply.status) {
            let is_page = reply.headers.get("content-type").is_some_and(|kind| kind.starts_with("text/html"));
            reply.body = if is_page {
                Value::String(text)
            } else {
                serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"))
            };
        }
        if reply.status >= 400 && !reply.is_of_gateway() {
            reply.check_problem();
        }
        let is_nosniff = reply.header("x-content-type-options") == Some("nosniff");
        assert!(is_nosniff || reply.status >= 400, "{method} {path}: a browser may guess the type");
        openapi::check(&Sent { method: &method, path, headers, body: body.as_deref() }, &reply);
        if !self.is_admin {
            customer_view::check(&method, path, &reply.body, reply.status);
        }
        let named = reply.take_request_id();
        let id = reply.header("apigw-requestid");
        assert!(!self.names_requests || named.is_none() || named.as_deref() == id, "{named:?} is not {id:?}");
        reply
    }

    /// The API's description, as the shop serves it.
    pub async fn open_api(&self) -> Value {
        let response = self.http.get(format!("{}/openapi.json", self.url)).send().await.expect("the gateway answers");
        response.json().await.expect("JSON")
    }

    /// Walks a list to its end, `limit` items at a time.
    pub async fn walk(&self, path: &str, limit: usize) -> Vec<Value> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let mark = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{mark}limit={limit}{cursor}")).await.expect(200);
            let page_items = page["items"].as_array().expect("items");
            assert!(page_items.len() <= limit);
            items.extend(page_items.iter().cloned());
            match page["next"].as_str() {
                Some(next) => {
                    let next = format!("&cursor={next}");
                    assert_ne!(next, cursor, "{path} does not come to an end");
                    cursor = next;
                }
                None => return items,
            }
        }
    }
}

/// Whether the token claims the admin scope. The token may be invalid.
fn holds_admin_scope(token: &str) -> bool {
    let claims = token.split('.').nth(1).and_then(|part| BASE64_URL_SAFE_NO_PAD.decode(part).ok());
    let claims: Value = claims.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    claims["scope"].as_str().unwrap_or_default().split(' ').any(|scope| scope == ADMIN_SCOPE)
}

impl Reply {
    /// A problem of a function names the request by the id that the gateway gave it.
    fn take_request_id(&mut self) -> Option<String> {
        let problem = self.body.as_object_mut().filter(|_| self.status >= 400)?;
        problem.remove("requestId")?.as_str().map(str::to_owned)
    }

    /// Asserts this status, and returns the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    /// Asserts a problem of this kind, and returns it.
    #[track_caller]
    pub fn problem(self, kind: Kind) -> Value {
        assert_eq!(self.body["type"], format!("/problems/{}", kind.slug()), "{}", self.body);
        assert_eq!(self.status, kind.status().as_u16(), "{}", self.body);
        self.body
    }

    /// The version in the `ETag`.
    pub fn version(&self) -> Option<u64> {
        self.header("etag")?.trim_matches('"').split('-').next()?.parse().ok()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Asserts an error of the gateway itself with this status, as API Gateway sends it.
    #[track_caller]
    pub fn of_gateway(self, status: u16) {
        assert!(self.is_of_gateway(), "{} {:?} {}", self.status, self.headers, self.body);
        assert_eq!(self.status, status);
    }

    fn is_of_gateway(&self) -> bool {
        let phrase = StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let message = if self.status == 413 { Some("Request Entity Too Large") } else { phrase };
        self.header("content-type") == Some("application/json") && self.body == json!({ "message": message })
    }

    fn check_problem(&self) {
        let slug = self.body["type"].as_str().and_then(|kind| kind.strip_prefix("/problems/"));
        let kind = Kind::ALL.iter().find(|kind| Some(kind.slug()) == slug).unwrap_or_else(|| panic!("{}", self.body));
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.body["status"], kind.status().as_u16());
        assert_eq!(self.status, kind.status().as_u16());
        for member in ["title", "detail"] {
            assert!(self.body[member].is_string(), "{}", self.body);
        }
        let (outcome, is_failure) = (&self.body["outcome"], self.status >= 500);
        let is_told = [json!("none"), json!("unknown")].contains(outcome);
        assert_eq!((is_told, outcome.is_null()), (is_failure, !is_failure), "{}", self.body);
    }
}
