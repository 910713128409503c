//! Caching (RFC 9111): who may keep an answer and for how long, and how a client asks whether its copy is current.
//!
//! A route that answers everybody alike says so in its declaration ([`Route::shared`]). No cache may keep the answers of
//! any other route: they are about a customer or for the staff. Every answer to a GET has an entity tag.

use http::header::{CACHE_CONTROL, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};
use lambda::{Environment, Misconfigured};
use lambda_http::{Body, Response};

use crate::{Reply, Request, Route, Verb};

/// How long caches may keep the answers of a route that answers everybody alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// For `CACHE_SECONDS`: answers that show stock, which each order changes.
    Product,
    /// For `LIST_CACHE_SECONDS`: lists of the catalogue, without stock.
    List,
}

impl Lifetime {
    /// The environment variable that holds the number of seconds.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Product => "CACHE_SECONDS",
            Self::List => "LIST_CACHE_SECONDS",
        }
    }
}

/// The longest lifetime, in seconds.
const MOST_SECONDS: u32 = 86_400;

/// The caching of a function's answers.
#[derive(Clone, Debug)]
pub(crate) struct Caching {
    is_read: bool,
    /// `Cache-Control` of an answer that caches may keep.
    shared: Option<HeaderValue>,
}

impl Caching {
    /// The caching that the route declares, with the lifetime of this environment.
    pub(crate) fn of(route: &Route, environment: &Environment) -> Result<Self, Misconfigured> {
        let seconds = route.shared.map(|lifetime| environment.number(lifetime.variable(), 0..=MOST_SECONDS));
        let shared = seconds.transpose()?.map(|seconds| {
            // Without the last two directives, a cache may use an old copy while the API does not answer.
            let control = format!("public, max-age={seconds}, must-revalidate, stale-if-error=0");
            HeaderValue::try_from(control).map_err(|error| Misconfigured::Invalid(error.to_string()))
        });
        Ok(Self { is_read: route.method == Verb::Get, shared: shared.transpose()? })
    }

    /// Adds the entity tag to the answer to a GET. If the client has this answer already, the answer is a 304.
    pub(crate) fn tag(&self, reply: Reply, request: &Request) -> Reply {
        if !self.is_read {
            return reply;
        }
        let reply = reply.tagged();
        if reply.entity_tag().is_some_and(|tag| request.has(tag)) { reply.not_modified() } else { reply }
    }

    /// Adds to the response who may keep it, and that its type is not to be guessed. That a product does not exist may be
    /// kept as long as the product: otherwise each request for it would reach the table.
    pub(crate) fn mark(&self, response: &mut Response<Body>) {
        let may_be_kept =
            matches!(response.status(), StatusCode::OK | StatusCode::NOT_MODIFIED | StatusCode::NOT_FOUND);
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        match &self.shared {
            Some(control) if may_be_kept => {
                headers.insert(CACHE_CONTROL, control.clone());
                // The gateway answers each origin with that origin's name, if `CorsOrigins` has it.
                headers.insert(VARY, HeaderValue::from_static("Origin"));
            }
            _ => {
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            }
        }
    }
}
