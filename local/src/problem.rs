//! The errors that the gateway makes itself, as problem documents.

use axum::body::Body;
use axum::http::{HeaderName, Response, StatusCode, header};
use serde_json::json;

/// An error of the gateway. `message` is the word that API Gateway says, in the only field that it sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem {
    status: StatusCode,
    slug: &'static str,
    title: &'static str,
    message: &'static str,
}

pub(crate) const UNAUTHORIZED: Problem = Problem {
    status: StatusCode::UNAUTHORIZED,
    slug: "unauthorized",
    title: "A valid token is needed",
    message: "Unauthorized",
};

pub(crate) const FORBIDDEN: Problem = Problem {
    status: StatusCode::FORBIDDEN,
    slug: "forbidden",
    title: "The token does not allow this",
    message: "Forbidden",
};

pub(crate) const NOT_FOUND: Problem =
    Problem { status: StatusCode::NOT_FOUND, slug: "not-found", title: "There is no such route", message: "Not Found" };

pub(crate) const TOO_LARGE: Problem = Problem {
    status: StatusCode::PAYLOAD_TOO_LARGE,
    slug: "too-large",
    title: "The request is too large",
    message: "Request Entity Too Large",
};

pub(crate) const INTERNAL: Problem = Problem {
    status: StatusCode::INTERNAL_SERVER_ERROR,
    slug: "internal",
    title: "Something went wrong on our side",
    message: "Internal Server Error",
};

pub(crate) const VALIDATION: Problem = Problem {
    status: StatusCode::BAD_REQUEST,
    slug: "validation",
    title: "The request is not valid",
    message: "Bad Request",
};

impl Problem {
    /// The HTTP response, with what is wrong this time.
    pub(crate) fn response(self, detail: &str) -> Response<Body> {
        let body = json!({
            "type": format!("/problems/{}", self.slug),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": detail,
            "message": self.message,
        });
        let mut headers: Vec<(HeaderName, &'static str)> = vec![(header::CONTENT_TYPE, "application/problem+json")];
        if self.status == StatusCode::UNAUTHORIZED {
            headers.push((header::WWW_AUTHENTICATE, "Bearer"));
        }
        answer(self.status, &headers, body.to_string())
    }
}

/// A response whose parts are known to be valid.
pub(crate) fn answer(status: StatusCode, headers: &[(HeaderName, &'static str)], body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    for (name, value) in headers {
        response.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}
