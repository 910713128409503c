//! `PUT /taxes`: replaces the tax rates of the shop.

use http_api::{Answer, Example, IfMatch, Json, Kind, Problem, Route, Scope, TaxesView, Versioned};
use key_schema::access::Access;
use key_schema::entity::{CountryTaxes, Taxes};
use key_schema::layout::TAXES_OF_SHOP;
use key_schema::value::{Timestamp, repeated};
use serde::Deserialize;
use table::{Budget, Reader, Writer};
use utoipa::ToSchema;

use crate::settings::{self, next_version};

pub const ROUTE: Route = Route::put("/taxes", Scope::Admin)
    .summary("Replace the tax rates.")
    .access(&[Access::query(TAXES_OF_SHOP), Access::put::<Taxes>()])
    .example(Example::at("09:32:40").header("if-match", r#""0""#).body(
        r#"{"countries": [{"country": "DE", "standard": 1900, "categories": [{"category": "coffee", "rate": 700}]}]}"#,
    ));

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

/// `If-Match` names the version that is replaced: `"0"` before there are rates. Orders whose items are read after this have
/// the new rates. Orders that were read before may still be placed with the former ones, at most seconds later.
pub async fn handle(
    (table, writer): (Reader, Writer),
    if_match: IfMatch,
    Json(NewTaxes { countries }): Json<NewTaxes>,
    budget: Budget,
) -> Answer<Versioned<TaxesView>> {
    check(&countries)?;
    let found = table.one(&TAXES_OF_SHOP.ask(())).await?;
    let taxes = Taxes { countries, updated_at: Timestamp::now(), version: next_version(found.as_ref()) };
    settings::replace(&writer, &if_match, found, taxes, budget).await
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
