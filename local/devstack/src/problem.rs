//! The gateway's own errors, as an HTTP API sends them, and the problem documents of the stack's own routes.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

/// The reason for an error of the gateway, for the log: the client gets no more than API Gateway would tell.
#[derive(Clone)]
pub(crate) struct Reason(pub(crate) String);

/// An error that the gateway answers with, without a function. API Gateway documents neither bodies nor headers, apart from
/// `www-authenticate`: <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-troubleshooting-jwt.html>.
pub(crate) fn gateway_error(status: StatusCode, reason: impl Into<String>) -> Response<Body> {
    let message = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "Request Entity Too Large",
        other => other.canonical_reason().unwrap_or_default(),
    };
    let mut response = answer(status, "application/json", json!({ "message": message }).to_string());
    response.extensions_mut().insert(Reason(reason.into()));
    response
}

/// The gateway's error of a request without a valid token. A request that had one is told what the route needs.
pub(crate) fn unauthorized(had_token: bool, scopes: &[String], reason: String) -> Response<Body> {
    let mut response = gateway_error(StatusCode::UNAUTHORIZED, reason);
    let scopes = scopes.join(" ");
    let invalid =
        format!("Bearer scope=\"{scopes}\" error=\"invalid_token\" error_description=\"the token is not valid\"");
    let challenge = if had_token { HeaderValue::from_str(&invalid).ok() } else { None };
    let challenge = challenge.unwrap_or(HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// A refusal that only the stack gives: of its own routes, and of pages in a browser.
pub(crate) fn problem(status: StatusCode, detail: &str) -> Response<Body> {
    let title = status.canonical_reason();
    let body = json!({ "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail });
    answer(status, PROBLEM_JSON, body.to_string())
}

pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

pub(crate) fn answer(status: StatusCode, media_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
