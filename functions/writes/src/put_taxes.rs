//! `PUT /taxes`: replaces the tax rates of the shop.

use std::collections::HashSet;
use std::hash::Hash;

use http_api::{Answer, Example, IfMatch, Json, Kind, Problem, Route, Scope, TaxesView, Versioned};
use key_schema::access::Access;
use key_schema::entity::{CountryTaxes, Taxes};
use key_schema::value::Timestamp;
use serde::Deserialize;
use table::{Budget, Condition, Write, Writer, Written, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route =
    Route::put("/taxes", Scope::Admin).summary("Replace the tax rates.").access(&[Access::put::<Taxes>()]).example(
        Example::at("09:32:40").body(
            r#"{"countries":[{"country":"DE","standard":1900,"categories":[{"category":"coffee","rate":700}]}]}"#,
        ),
    );

/// The most countries.
const MOST_COUNTRIES: usize = 100;
/// The most rates of categories in all countries together: every order of the shop reads them, so they must be few
/// kilobytes.
const MOST_RATES: usize = 200;

/// The tax rates, a country each. They replace all that there were.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTaxes {
    /// Up to 100 countries, with up to 200 rates of categories together.
    #[schema(max_items = 100)]
    countries: Vec<CountryTaxes>,
}

/// The version is random, so the rates can be replaced without reading them. With `If-Match`, only rates of that version
/// are replaced. Orders whose items are read after this have the new rates; orders that were read before may still be
/// placed with the former ones, at most seconds later.
pub async fn handle(
    writer: Writer,
    if_match: Option<IfMatch>,
    Json(NewTaxes { countries }): Json<NewTaxes>,
    budget: Budget,
) -> Answer<Versioned<TaxesView>> {
    check(&countries)?;
    let version = fastrand::u64(1..1 << 53);
    let taxes = Taxes { countries, updated_at: Timestamp::now(), version };
    let write = match &if_match {
        None => Write::put(&taxes)?,
        Some(if_match) => Write::put_if(&taxes, Condition::versions(if_match.versions())?)?,
    };
    match writer.write(write, budget).await? {
        Written::Done => Ok(Versioned::new(version, taxes.into())),
        Written::ConditionFailed(Some(other)) => {
            let other: Taxes = read_item(other)?;
            // If the SDK retried an attempt that had succeeded, the retry finds its own rates.
            if other.version == version {
                return Ok(Versioned::new(version, taxes.into()));
            }
            Err(Problem::version_conflict(other.version))
        }
        Written::ConditionFailed(None) => Err(Problem::version_conflict(0)),
    }
}

fn check(countries: &[CountryTaxes]) -> Answer<()> {
    if countries.len() > MOST_COUNTRIES {
        return Err(Problem::new(Kind::TooLarge, format!("There are at most {MOST_COUNTRIES} countries.")));
    }
    if countries.iter().map(|country| country.categories.len()).sum::<usize>() > MOST_RATES {
        return Err(Problem::new(Kind::TooLarge, format!("There are at most {MOST_RATES} rates of categories.")));
    }
    if let Some(at) = repeated(countries.iter().map(|taxes| &taxes.country)) {
        return Err(Problem::invalid(format!("countries[{at}].country is also in an earlier entry")));
    }
    for (country, taxes) in countries.iter().enumerate() {
        if let Some(at) = repeated(taxes.categories.iter().map(|tax| &tax.category)) {
            let detail = format!("countries[{country}].categories[{at}].category is also in an earlier entry");
            return Err(Problem::invalid(detail));
        }
    }
    Ok(())
}

/// The index of the first value that is equal to an earlier one.
fn repeated<T: Hash + Eq>(values: impl IntoIterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::new();
    values.into_iter().position(|value| !seen.insert(value))
}
