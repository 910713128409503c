//! The gateway's own errors, as problem documents.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_api::Kind;
use serde_json::json;

/// The problem as a response. It includes `message`, the only field that API Gateway sends.
pub(crate) fn problem(kind: Kind, detail: &str) -> Response<Body> {
    let status = kind.status();
    let message = match kind {
        Kind::TooLarge => "Request Entity Too Large",
        _ => status.canonical_reason().unwrap_or_default(),
    };
    let body = json!({
        "type": format!("/problems/{}", kind.slug()),
        "title": kind.title(),
        "status": status.as_u16(),
        "detail": detail,
        "message": message,
    });
    let mut response = answer(status, "application/problem+json", body.to_string());
    if kind == Kind::Unauthorized {
        with_header(&mut response, header::WWW_AUTHENTICATE, "Bearer");
    }
    response
}

/// A refusal that only the laptop gives, and for which the API has no problem kind.
pub(crate) fn plain_problem(status: StatusCode, detail: &str) -> Response<Body> {
    let title = status.canonical_reason().unwrap_or_default();
    let body = json!({
        "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail, "message": title,
    });
    answer(status, "application/problem+json", body.to_string())
}

/// A response with a body of this media type.
pub(crate) fn answer(status: StatusCode, media_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    with_header(&mut response, header::CONTENT_TYPE, media_type);
    response
}

fn with_header(response: &mut Response<Body>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}
