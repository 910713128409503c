//! The gateway's own errors, as problem documents (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::json;

/// An error that the gateway answers with, without a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayError {
    /// The request was cut off, or a request to one of the stack's own routes is not valid.
    BadRequest,
    /// The route needs a token, and there is no valid one.
    Unauthorized,
    /// The token lacks the scopes of the route.
    Forbidden,
    NotFound,
    TooLarge,
    /// The function failed, or its time was over.
    Internal,
    /// The function may not run: its reserved concurrency is 0.
    Unavailable,
}

/// The `type` and the `title` of a problem document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProblemType {
    pub uri: String,
    pub title: String,
}

impl GatewayError {
    pub fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The value of `message`, which is all that API Gateway sends.
    fn message(self) -> &'static str {
        match self {
            Self::TooLarge => "Request Entity Too Large",
            other => other.status().canonical_reason().unwrap_or_default(),
        }
    }
}

impl ProblemType {
    /// The type of a problem that says no more than its status.
    pub fn blank(status: StatusCode) -> Self {
        Self { uri: "about:blank".to_owned(), title: status.canonical_reason().unwrap_or_default().to_owned() }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Problems(pub(crate) fn(GatewayError) -> ProblemType);

impl Problems {
    pub(crate) fn answer(self, error: GatewayError, detail: &str) -> Response<Body> {
        let mut response = document(&self.0(error), error.status(), detail, error.message());
        if error == GatewayError::Unauthorized {
            with_header(&mut response, header::WWW_AUTHENTICATE, "Bearer");
        }
        response
    }
}

/// A refusal that only the stack gives, and for which the API has no problem type.
pub(crate) fn plain_problem(status: StatusCode, detail: &str) -> Response<Body> {
    let blank = ProblemType::blank(status);
    document(&blank, status, detail, &blank.title)
}

fn document(problem: &ProblemType, status: StatusCode, detail: &str, message: &str) -> Response<Body> {
    let ProblemType { uri, title } = problem;
    let body = json!({ "type": uri, "title": title, "status": status.as_u16(), "detail": detail, "message": message });
    answer(status, PROBLEM_JSON, body.to_string())
}

pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

pub(crate) fn answer(status: StatusCode, media_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    with_header(&mut response, header::CONTENT_TYPE, media_type);
    response
}

fn with_header(response: &mut Response<Body>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}
