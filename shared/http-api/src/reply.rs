//! Replies, and how replies and problems become HTTP responses.

use std::time::Duration;

use http::StatusCode;
use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use lambda_http::{Body, Response};
use serde::Serialize;

use crate::audit::AuditedProduct;
use crate::{Kind, Problem, entity_tag};

/// The value of `Retry-After`, in seconds, unless more is known about the wait.
const SECONDS_TO_WAIT: &str = "2";

/// The result of a handler: a success of type `R`, or a problem.
pub type Answer<R = Reply> = Result<R, Problem>;

/// A successful response.
#[derive(Debug)]
pub struct Reply {
    status: StatusCode,
    headers: Vec<(HeaderName, String)>,
    body: Option<String>,
    /// The problems of parts that failed, for the log. See [`Part`](crate::Part).
    failures: Vec<Problem>,
    /// The products of a batch, for the audit log.
    products: Vec<AuditedProduct>,
}

impl Reply {
    /// 200 with this body.
    pub(crate) fn ok(body: &impl Serialize) -> Answer {
        Self::of(StatusCode::OK, body)
    }

    /// 200 with this page, which may do what the content security policy allows.
    pub(crate) fn html(document: String, policy: String) -> Self {
        let headers = vec![(CONTENT_TYPE, "text/html; charset=utf-8".to_owned()), (CONTENT_SECURITY_POLICY, policy)];
        Self { status: StatusCode::OK, headers, body: Some(document), failures: Vec::new(), products: Vec::new() }
    }

    /// Changes the status to 201. `location` is the path of the created resource, if its creator can read it.
    pub(crate) fn created(mut self, location: Option<String>) -> Self {
        self.status = StatusCode::CREATED;
        self.headers.extend(location.map(|location| (LOCATION, location)));
        self
    }

    /// Changes the status to 202. `location` is the path at which the outcome can be read later, after `wait` if that is
    /// known.
    pub(crate) fn accepted(
        mut self,
        location: String,
        preference: Option<&'static str>,
        wait: Option<Duration>,
    ) -> Self {
        self.status = StatusCode::ACCEPTED;
        self.headers.push((LOCATION, location));
        if let Some(preference) = preference {
            self.headers.push((HeaderName::from_static("preference-applied"), preference.to_owned()));
        }
        match wait {
            None => self.retry_after(),
            Some(wait) => {
                self.headers.push((RETRY_AFTER, wait.as_millis().div_ceil(1000).max(1).to_string()));
                self
            }
        }
    }

    /// 204, without a body.
    pub(crate) fn no_content() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            headers: Vec::new(),
            body: None,
            failures: Vec::new(),
            products: Vec::new(),
        }
    }

    /// Adds the version as `ETag`.
    #[must_use]
    pub(crate) fn etag(mut self, version: u64) -> Self {
        self.headers.push((ETAG, entity_tag::of_version(version)));
        self
    }

    /// The stored reply to an earlier request, for a request that repeats it.
    pub(crate) fn again(status: StatusCode, location: Option<String>, version: Option<u64>, body: String) -> Self {
        let mut reply =
            Self { status, headers: Vec::new(), body: Some(body), failures: Vec::new(), products: Vec::new() };
        reply.headers.extend(location.map(|location| (LOCATION, location)));
        let reply = match version {
            Some(version) => reply.etag(version),
            None => reply,
        };
        reply.replayed(true)
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn location(&self) -> Option<&str> {
        self.header(&LOCATION)
    }

    /// The version in the `ETag`.
    pub(crate) fn version(&self) -> Option<u64> {
        entity_tag::version_of(self.entity_tag()?)
    }

    pub(crate) fn entity_tag(&self) -> Option<&str> {
        self.header(&ETAG)
    }

    /// Adds the entity tag of the body, which contains the version if there is one.
    #[must_use]
    pub(crate) fn tagged(mut self) -> Self {
        if let Some(body) = &self.body {
            let tag = entity_tag::of_body(self.version(), body);
            self.headers.retain(|(name, _)| name != ETAG);
            self.headers.push((ETAG, tag));
        }
        self
    }

    /// 304, without the body, because the client has it.
    #[must_use]
    pub(crate) fn not_modified(self) -> Self {
        let mut reply = Self { status: StatusCode::NOT_MODIFIED, body: None, ..self };
        reply.headers.retain(|(name, _)| name != CONTENT_TYPE);
        reply
    }

    pub(crate) fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Adds the problems of parts that failed.
    #[must_use]
    pub(crate) fn with_failures(self, failures: Vec<Problem>) -> Self {
        Self { failures, ..self }
    }

    /// Adds the products of a batch.
    #[must_use]
    pub(crate) fn with_products(self, products: Vec<AuditedProduct>) -> Self {
        Self { products, ..self }
    }

    pub(crate) fn products(&self) -> &[AuditedProduct] {
        &self.products
    }

    /// The problems of parts that failed.
    pub(crate) fn failures(&self) -> &[Problem] {
        &self.failures
    }

    /// Adds `Idempotent-Replayed` if the request repeats an earlier one.
    #[must_use]
    pub(crate) fn replayed(mut self, replayed: bool) -> Self {
        if replayed {
            self.headers.push((HeaderName::from_static("idempotent-replayed"), "true".to_owned()));
        }
        self
    }

    #[must_use]
    pub(crate) fn retry_after(mut self) -> Self {
        self.headers.push((RETRY_AFTER, SECONDS_TO_WAIT.to_owned()));
        self
    }

    fn of(status: StatusCode, body: &impl Serialize) -> Answer {
        let body = serde_json::to_string(body).map_err(Problem::internal)?;
        Ok(Self { status, headers: Vec::new(), body: Some(body), failures: Vec::new(), products: Vec::new() })
    }
}

impl From<Reply> for Response<Body> {
    fn from(reply: Reply) -> Self {
        let mut response = match reply.body {
            Some(body) => json(reply.status, "application/json", body),
            None => Response::default(),
        };
        *response.status_mut() = reply.status;
        for (name, value) in reply.headers {
            // All values are made of ids, numbers and constants, so they are valid.
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Makes the RFC 9457 document of the problem.
impl From<&Problem> for Response<Body> {
    fn from(problem: &Problem) -> Self {
        let kind = problem.kind();
        // The document has only texts and numbers, so serializing it cannot fail.
        let document = serde_json::to_string(&problem.document()).unwrap_or_default();
        let mut response = json(kind.status(), "application/problem+json", document);
        match kind {
            _ if problem.may_pass() => {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(SECONDS_TO_WAIT))
            }
            Kind::Unauthorized => response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => None,
        };
        response
    }
}

fn json(status: StatusCode, content_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
