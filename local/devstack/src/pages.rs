//! The pages of the program that runs the stack.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Response, StatusCode, header};
use tower::ServiceExt as _;

use crate::problem::gateway_error;

/// What a page may do unless it says otherwise: run and load files from here, and show images.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' http: https: data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A router that answers what it does not know as API Gateway does.
pub(crate) struct Pages(Router);

impl Pages {
    pub(crate) fn new(pages: Router) -> Self {
        let unknown = || async { gateway_error(StatusCode::NOT_FOUND, "no route matches") };
        Self(pages.fallback(unknown).method_not_allowed_fallback(unknown))
    }

    pub(crate) async fn answer(&self, request: Request) -> Response<Body> {
        let Ok(mut response): Result<_, Infallible> = self.0.clone().oneshot(request).await;
        let headers = response.headers_mut();
        if headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html")) {
            headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
        }
        response
    }
}
