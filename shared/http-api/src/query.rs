//! Strict reading of query strings: unknown parameters are refused.

use std::borrow::Cow;
use std::str::FromStr;

use key_schema::page::PageRequest;
use key_schema::value::Invalid;
use serde::de::value::{CowStrDeserializer, Error, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use utoipa::IntoParams;

/// The filter of a list that has no filter.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct Unfiltered {}

/// The page of a list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// The most items that the page may have, from 1 to 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100, default = 25)]
    limit: Limit,
    /// The `next` of the page before; absent for the first page.
    #[param(min_length = 1, max_length = 2048, pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
}

impl From<Paging> for PageRequest {
    fn from(paging: Paging) -> Self {
        Self { limit: paging.limit.0, cursor: paging.cursor }
    }
}

/// The names of the paging parameters.
pub(crate) const PAGING: &[&str] = &["limit", "cursor"];

/// The names of the parameters, besides the filter, of a list that also answers items by their ids.
pub(crate) const PAGING_OR_IDS: &[&str] = &["limit", "cursor", IDS];

const IDS: &str = "ids";

/// The most ids of a request: those of a BatchGetItem.
pub(crate) const MOST_IDS: usize = 100;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Limit(u8);

impl Default for Limit {
    fn default() -> Self {
        Self(25)
    }
}

impl TryFrom<String> for Limit {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let limit = text.parse().ok().filter(|limit| (1..=100).contains(limit));
        limit.map(Self).ok_or_else(|| Invalid("limit must be a whole number from 1 to 100".to_owned()))
    }
}

/// Reads a query string. A parameter that is not a field of the type is refused.
pub(crate) fn read<T: DeserializeOwned>(query: &str) -> Result<T, Error> {
    T::deserialize(Parameters { pairs: form_urlencoded::parse(query.as_bytes()).collect(), besides: &[] })
}

/// The ids of a query string that asks for items by their ids, each once. `None` if the query string has no `ids`. Any other
/// parameter beside them is refused.
pub(crate) fn read_ids<Id: FromStr<Err = Invalid> + PartialEq>(query: &str) -> Result<Option<Vec<Id>>, Error> {
    let parameters: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let Some((_, value)) = parameters.iter().find(|(name, _)| name == IDS) else { return Ok(None) };
    if parameters.len() > 1 {
        return Err(Error::custom(format!("`{IDS}` has no parameter beside it, and is not repeated")));
    }
    if value.split(',').count() > MOST_IDS {
        return Err(Error::custom(format!("`{IDS}` has at most {MOST_IDS} ids")));
    }
    let mut ids = Vec::new();
    for id in value.split(',') {
        let id = id.parse().map_err(|error| Error::custom(format!("`{IDS}`: {error}")))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(Some(ids))
}

/// Reads the query string of a list: the filter and the paging. A parameter that belongs to neither is refused. `besides` are
/// the names of all parameters that are not of the filter.
pub(crate) fn read_list<Filter: DeserializeOwned>(
    query: &str,
    besides: &'static [&'static str],
) -> Result<(Filter, Paging), Error> {
    let (paging, filter) =
        form_urlencoded::parse(query.as_bytes()).partition(|(name, _)| PAGING.contains(&name.as_ref()));
    let filter = Filter::deserialize(Parameters { pairs: filter, besides })?;
    Ok((filter, Paging::deserialize(Parameters { pairs: paging, besides: &[] })?))
}

struct Parameters<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The names of the route's parameters that are read separately. Errors name them, too.
    besides: &'static [&'static str],
}

impl<'de> Deserializer<'de> for Parameters<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let values = self.pairs.into_iter().map(|(name, value)| (name, Value(value)));
        visitor.visit_map(MapDeserializer::new(values))
    }

    /// Refuses an unknown parameter with the names of all parameters that the route takes.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some((unknown, _)) = self.pairs.iter().find(|(name, _)| !fields.contains(&name.as_ref())) {
            let known: Vec<&str> = fields.iter().chain(self.besides).copied().collect();
            let known = if known.is_empty() { "none".to_owned() } else { format!("one of {}", known.join(", ")) };
            return Err(Error::custom(format!("unknown parameter `{unknown}`, expected {known}")));
        }
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The text of one parameter.
struct Value<'a>(Cow<'a, str>);

impl IntoDeserializer<'_, Error> for Value<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    /// A parameter that is present always has a value.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if !names.contains(&self.0.as_ref()) {
            return Err(Error::custom(format!("`{}` is not one of {}", self.0, names.join(", "))));
        }
        visitor.visit_enum(CowStrDeserializer::new(self.0))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_ref() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Error::custom(format!("`{other}` is not one of true, false"))),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
