//! CORS, as an HTTP API answers it:
//! <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html>.
//!
//! This is not `tower-http`'s layer, because that layer answers a preflight request of a foreign origin with the list of
//! methods and headers. API Gateway answers it without any rule.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};

use crate::template::Cors;

impl Cors {
    /// The answer to a preflight request, which [`Cors::allow`] completes. `None`: the request is not one.
    pub(crate) fn preflight(&self, request: &Request<Body>) -> Option<Response<Body>> {
        let headers = request.headers();
        let is_preflight = request.method() == Method::OPTIONS
            && headers.contains_key(header::ORIGIN)
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight {
            return None;
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        if self.allowed(headers).is_some() {
            let rules = response.headers_mut();
            insert(rules, header::ACCESS_CONTROL_ALLOW_METHODS, &self.allow_methods.join(","));
            insert(rules, header::ACCESS_CONTROL_ALLOW_HEADERS, &self.allow_headers.join(","));
            let max_age = self.max_age.map(|seconds| seconds.to_string()).unwrap_or_default();
            insert(rules, header::ACCESS_CONTROL_MAX_AGE, &max_age);
        }
        Some(response)
    }

    /// The origin of this request, if its pages may call the API.
    pub(crate) fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        let text = origin.to_str().ok()?;
        self.allow_origins.iter().any(|allowed| is_origin(allowed, text)).then(|| origin.clone())
    }

    pub(crate) fn allow(&self, answer: &mut HeaderMap, origin: HeaderValue) {
        answer.append(header::VARY, HeaderValue::from_static("origin"));
        answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        insert(answer, header::ACCESS_CONTROL_EXPOSE_HEADERS, &self.expose_headers.join(","));
    }
}

/// Adds a header, unless its value is empty.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value)
        && !value.is_empty()
    {
        headers.insert(name, value);
    }
}

fn is_origin(allowed: &str, origin: &str) -> bool {
    let has_port = |rest: &str| rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    match allowed.strip_suffix(":*") {
        Some(any_port) => origin.strip_prefix(any_port).is_some_and(|rest| rest.is_empty() || has_port(rest)),
        None => allowed == "*" || allowed == origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_allowed_exactly_or_with_any_port() {
        for (allowed, origin) in [
            ("*", "https://any.example"),
            ("https://notes.example", "https://notes.example"),
            ("http://localhost:*", "http://localhost"),
            ("http://localhost:*", "http://localhost:5173"),
        ] {
            assert!(is_origin(allowed, origin), "{allowed} {origin}");
        }
        for (allowed, origin) in [
            ("https://notes.example", "http://notes.example"),
            ("https://notes.example", "https://notes.example.evil.example"),
            ("http://localhost:*", "http://localhost.evil.example"),
            ("http://localhost:*", "http://localhost:1.evil.example"),
            ("http://localhost:*", "https://localhost:5173"),
            ("http://localhost:*", "null"),
        ] {
            assert!(!is_origin(allowed, origin), "{allowed} {origin}");
        }
    }
}
