//! Requests. Each method reads a typed value from a part of the request, or refuses the request with a problem. A part
//! with a payment card number is refused before it is read, apart from the body that the payment provider signed.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use key_schema::page::PageRequest;
use key_schema::value::{GuestSecret, Invalid};
use lambda::Budget;
use lambda_http::RequestExt as _;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::extract::IdsOr;
use crate::{Caller, IfMatch, Kind, Problem, Route, card_number, entity_tag, event, json, prefer, query};

/// The greatest length of a body. The largest valid one, an order of 40 lines, has 6 KB.
const MOST_BYTES: usize = 64 * 1024;

/// A request whose token has the scope of its route.
#[derive(Debug)]
pub struct Request {
    inner: lambda_http::Request,
    caller: Option<Caller>,
    route: &'static Route,
}

impl Request {
    pub(crate) fn authorize(inner: lambda_http::Request, route: &'static Route) -> Result<Self, Problem> {
        let caller = Caller::of(event::claims(&inner), route.scope)?;
        Ok(Self { inner, caller, route })
    }

    /// The caller.
    ///
    /// # Errors
    /// `unauthorized` on a public route, which reads no token.
    pub(crate) fn caller(&self) -> Result<&Caller, Problem> {
        self.caller.as_ref().ok_or_else(|| Problem::new(Kind::Unauthorized, "This route needs a valid bearer token."))
    }

    pub(crate) fn path<T: FromStr<Err = Invalid>>(&self, name: &str) -> Result<T, Problem> {
        let text = self.inner.path_parameters_ref().and_then(|all| all.first(name)).unwrap_or_default();
        if card_number::is_in(text) {
            return Err(Problem::card_number(name).with("field", name));
        }
        text.parse().map_err(Problem::invalid)
    }

    /// The query string. A parameter that is not a field of the type is refused.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        query::read(self.query_string()?).map_err(invalid_query)
    }

    /// The query string of a list: a filter and a page. A parameter that belongs to neither is refused.
    pub(crate) fn list<Filter: DeserializeOwned>(&self) -> Result<(Filter, PageRequest), Problem> {
        self.list_with(query::PAGING)
    }

    /// The ids in a query string that asks for items by their ids; otherwise the query string of a list.
    pub(crate) fn ids_or_list<Id, Filter>(&self) -> Result<IdsOr<Id, Filter>, Problem>
    where
        Id: FromStr<Err = Invalid> + PartialEq,
        Filter: DeserializeOwned,
    {
        match query::read_ids(self.query_string()?).map_err(invalid_query)? {
            Some(ids) => Ok(IdsOr::Ids(ids)),
            None => self.list_with(query::PAGING_OR_IDS).map(|(filter, page)| IdsOr::List(filter, page)),
        }
    }

    fn list_with<Filter: DeserializeOwned>(
        &self,
        besides: &'static [&'static str],
    ) -> Result<(Filter, PageRequest), Problem> {
        let (filter, paging) = query::read_list(self.query_string()?, besides).map_err(invalid_query)?;
        Ok((filter, paging.into()))
    }

    fn query_string(&self) -> Result<&str, Problem> {
        let query = self.inner.uri().query().unwrap_or_default();
        if card_number::is_in_query(query) { Err(Problem::card_number("The query string")) } else { Ok(query) }
    }

    /// The body, as it was sent.
    pub(crate) fn body(&self) -> Result<&[u8], Problem> {
        let body: &[u8] = self.inner.body();
        if body.len() > MOST_BYTES {
            return Err(Problem::new(Kind::TooLarge, format!("The body must not be larger than {MOST_BYTES} bytes.")));
        }
        Ok(body)
    }

    /// The body, as JSON.
    pub(crate) fn json<T: DeserializeOwned + ToSchema>(&self) -> Result<T, Problem> {
        let body = self.body()?;
        let invalid = |why| Problem::new(Kind::Validation, why);
        match card_number::in_json(body).map_err(invalid)? {
            Some(path) => Err(Problem::card_number(&path).with("field", path)),
            None => json::read(body).map_err(|why| match json::faults::<T>(body) {
                faults if faults.is_empty() => invalid(why),
                faults => invalid(why).with("errors", faults),
            }),
        }
    }

    /// The body, as JSON. A request without a body gets the default of the type.
    pub(crate) fn json_if_any<T: DeserializeOwned + Default + ToSchema>(&self) -> Result<T, Problem> {
        if self.inner.body().is_empty() { Ok(T::default()) } else { self.json() }
    }

    /// A header.
    ///
    /// # Errors
    /// `validation` if the value is not printable ASCII.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&str>, Problem> {
        let value = self.header_as_sent(name)?;
        if value.is_some_and(card_number::is_in) {
            return Err(Problem::card_number(name).with("field", name));
        }
        Ok(value)
    }

    fn header_as_sent(&self, name: &str) -> Result<Option<&str>, Problem> {
        let invalid = |_| Problem::new(Kind::Validation, format!("The header {name} must be printable ASCII."));
        self.inner.headers().get(name).map(|value| value.to_str().map_err(invalid)).transpose()
    }

    /// Whether the request has this preference (RFC 7240, 2). Other preferences are ignored.
    pub(crate) fn prefers(&self, preference: &str) -> bool {
        self.inner.headers().get_all("Prefer").iter().any(|value| prefer::names(value.as_bytes(), preference))
    }

    /// `If-Match`. It holds versions that the shop gave out, and a version may look like a card number.
    fn entity_tags(&self) -> Result<Option<&str>, Problem> {
        self.header_as_sent("If-Match")
    }

    /// An optional `If-Match`.
    ///
    /// # Errors
    /// `validation` if the header is malformed.
    pub(crate) fn if_match_if_any(&self) -> Result<Option<IfMatch>, Problem> {
        self.entity_tags()?.map(IfMatch::parse).transpose()
    }

    /// A required `If-Match`.
    ///
    /// # Errors
    /// `precondition-required` without the header, `validation` if the header is malformed.
    pub(crate) fn if_match(&self) -> Result<IfMatch, Problem> {
        IfMatch::parse(self.entity_tags()?.ok_or_else(Problem::precondition_required)?)
    }

    /// Whether the client has the answer with this entity tag (`If-None-Match`).
    pub(crate) fn has(&self, tag: &str) -> bool {
        // A value that is no text names no tag.
        matches!(self.header_as_sent("If-None-Match"), Ok(Some(value)) if entity_tag::is_in(tag, value))
    }

    pub(crate) fn route(&self) -> &'static Route {
        self.route
    }

    /// The secret of a guest. It is random, so it may look like a card number.
    ///
    /// # Errors
    /// `validation` if the header is missing or malformed.
    pub(crate) fn guest_secret(&self) -> Result<GuestSecret, Problem> {
        self.header_as_sent("Guest-Secret")?.unwrap_or_default().parse().map_err(Problem::invalid)
    }

    /// The path parameters by name, in the order of their names.
    pub(crate) fn path_parameters(&self) -> BTreeMap<&str, &str> {
        event::path_parameters(&self.inner).collect()
    }

    /// The time that the handler may use, retries included.
    pub(crate) fn budget(&self) -> Budget {
        Budget::of(self.time_left())
    }

    /// The time that is left of the invocation, less the time that sending the answer needs.
    pub(crate) fn time_left(&self) -> Duration {
        self.inner.lambda_context_ref().map(lambda::time_left).unwrap_or_default()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn invalid_query(error: serde::de::value::Error) -> Problem {
    Problem::new(Kind::Validation, format!("query string: {error}"))
}
