//! Query strings of lists.

use key_schema::value::Invalid;
use serde::Deserialize;
use table::PageRequest;
use utoipa::IntoParams;

/// A list without a filter.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct Unfiltered {}

/// Which page of a list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// At most so many items: 1 to 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100, default = 25)]
    limit: Limit,
    /// `next` of the page before.
    cursor: Option<String>,
}

impl From<Paging> for PageRequest {
    fn from(paging: Paging) -> Self {
        Self { limit: paging.limit.0, cursor: paging.cursor }
    }
}

/// The names of the paging parameters.
pub(crate) const PAGING: [&str; 2] = ["limit", "cursor"];

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
