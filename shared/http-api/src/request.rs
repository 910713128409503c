//! Requests: every method turns text into a typed value, or refuses it.

use std::str::FromStr;
use std::time::Duration;

use key_schema::value::{CustomerId, Invalid};
use lambda::Context;
use serde::de::DeserializeOwned;
use table::{Budget, PageRequest};

use crate::event::{Event, Malformed, Parameters, READ};
use crate::{Caller, IfMatch, Kind, Problem, Route, json, prefer, query};

/// The most a request's body may hold. The largest honest one, an order of 40 lines, has 6 KB.
const MOST_BYTES: usize = 64 * 1024;

/// A request that has passed its route's authorisation.
#[derive(Debug)]
pub struct Request {
    inner: lambda_http::Request,
    path: Parameters,
    caller: Option<Caller>,
    context: Context,
    route: &'static Route,
}

impl Request {
    pub(crate) fn authorize(event: Event, context: Context, route: &'static Route) -> Result<Self, Problem> {
        let caller = Caller::of(event.claims(), route.scope)?;
        let malformed = |error: Malformed| Problem::new(Kind::Validation, error.to_string());
        let (inner, path) = event.into_request().map_err(malformed)?;
        Ok(Self { inner, path, caller, context, route })
    }

    /// Who is asking.
    ///
    /// # Errors
    /// `unauthorized` on a public route, where nobody is known.
    pub fn caller(&self) -> Result<&Caller, Problem> {
        self.caller.as_ref().ok_or_else(|| Problem::new(Kind::Unauthorized, "This route needs a valid bearer token."))
    }

    /// A parameter of the path.
    pub fn path<T: FromStr<Err = Invalid>>(&self, name: &str) -> Result<T, Problem> {
        Ok(self.path.get(name).map_or("", String::as_str).parse()?)
    }

    /// The customer in the path, if it is the caller's own or the caller is an admin.
    pub fn own_customer(&self) -> Result<CustomerId, Problem> {
        let customer = self.path("customerId")?;
        if self.caller()?.may_see(&customer) { Ok(customer) } else { Err(Problem::not_found("customer")) }
    }

    /// The query string. A parameter that the type does not know is refused.
    pub fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        query::read(self.inner.uri().query().unwrap_or_default()).map_err(invalid_query)
    }

    /// The query string of a list: what to list, and which page of it. A parameter that neither knows is refused.
    pub fn list<Filter: DeserializeOwned>(&self) -> Result<(Filter, PageRequest), Problem> {
        let (filter, paging) = query::read_list(self.inner.uri().query().unwrap_or_default()).map_err(invalid_query)?;
        Ok((filter, paging.into()))
    }

    /// The body, a JSON object. A field that the type does not know is refused.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let body: &[u8] = self.inner.body();
        if body.len() > MOST_BYTES {
            return Err(Problem::new(Kind::TooLarge, format!("The body must not be larger than {MOST_BYTES} bytes.")));
        }
        json::read(body).map_err(|why| Problem::new(Kind::Validation, why))
    }

    /// The body, as JSON; of a request without one, the default.
    pub fn json_if_any<T: DeserializeOwned + Default>(&self) -> Result<T, Problem> {
        if self.inner.body().is_empty() { Ok(T::default()) } else { self.json() }
    }

    /// A header.
    ///
    /// # Errors
    /// A value that is no text.
    pub fn header(&self, name: &str) -> Result<Option<&str>, Problem> {
        debug_assert!(READ.iter().any(|read| name.eq_ignore_ascii_case(read)), "event.rs leaves {name} out");
        let invalid = |_| Problem::new(Kind::Validation, format!("The header {name} must be printable ASCII."));
        self.inner.headers().get(name).map(|value| value.to_str().map_err(invalid)).transpose()
    }

    /// Whether the request's `Prefer` headers name this preference (RFC 7240, 2). What they say besides is not for us.
    pub fn prefers(&self, preference: &str) -> bool {
        self.inner.headers().get_all("Prefer").iter().any(|value| prefer::names(value.as_bytes(), preference))
    }

    /// Which version the change is meant for, of a route that may be asked without.
    ///
    /// # Errors
    /// `validation` if the header is there and no entity tag.
    pub fn if_match_if_any(&self) -> Result<Option<IfMatch>, Problem> {
        self.header("If-Match")?.map(IfMatch::parse).transpose()
    }

    /// Which version the change is meant for.
    ///
    /// # Errors
    /// `precondition-required` without the header, `validation` if it is no entity tag.
    pub fn if_match(&self) -> Result<IfMatch, Problem> {
        IfMatch::parse(self.header("If-Match")?.ok_or_else(Problem::precondition_required)?)
    }

    /// The route.
    pub(crate) fn route(&self) -> &'static Route {
        self.route
    }

    /// The parameters of the path, by name.
    pub(crate) fn path_parameters(&self) -> &Parameters {
        &self.path
    }

    /// How long the handler may take to try again: what is left of the function's time, less what answering needs.
    pub fn budget(&self) -> Budget {
        Budget::of(self.time_left())
    }

    /// What is left of the function's time, less what answering needs.
    pub(crate) fn time_left(&self) -> Duration {
        lambda::time_left(&self.context)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn invalid_query(error: serde::de::value::Error) -> Problem {
    Problem::new(Kind::Validation, format!("query string: {error}"))
}
