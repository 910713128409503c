//! `PUT /shipping`: replaces the shipping rates of the shop.

use http_api::{Answer, Example, IfMatch, Json, Kind, Problem, Route, Scope, ShippingView, Versioned};
use key_schema::access::Access;
use key_schema::entity::{ShippingRates, ShippingZone};
use key_schema::layout::RATES_OF_SHOP;
use key_schema::value::{Country, MOST_CHARGED, Timestamp, repeated};
use serde::Deserialize;
use table::{Budget, Reader, Writer};
use utoipa::ToSchema;

use crate::settings::{self, next_version};

pub const ROUTE: Route = Route::put("/shipping", Scope::Admin)
    .summary("Replace the shipping rates of the shop.")
    .access(&[Access::query(RATES_OF_SHOP), Access::put::<ShippingRates>()])
    .example(Example::at("09:34:15").header("if-match", r#""0""#).body(
        r#"{
            "zones": [{
                "countries": ["DE", "AT"],
                "currency": "EUR",
                "by": "weight",
                "bands": [{"upTo": 2000, "price": 490}, {"upTo": 30000, "price": 890}],
                "freeFrom": 5000
            }, {
                "currency": "EUR",
                "by": "price",
                "bands": [{"price": 1490}]
            }]
        }"#,
    ));

/// New shipping rates.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRates {
    /// Up to 50 zones. Without zones, shipping costs nothing and goes everywhere.
    #[schema(max_items = 50)]
    zones: Vec<ShippingZone>,
}

/// `If-Match` names the version that is replaced: `"0"` before there are rates. Orders and quotes may use the old rates for
/// a second or so, because they read them eventually consistent.
pub async fn handle(
    (table, writer): (Reader, Writer),
    if_match: IfMatch,
    Json(NewRates { zones }): Json<NewRates>,
    budget: Budget,
) -> Answer<Versioned<ShippingView>> {
    check(&zones)?;
    let found = table.one(&RATES_OF_SHOP.ask(())).await?;
    let rates = ShippingRates { zones, updated_at: Timestamp::now(), version: next_version(found.as_ref()) };
    settings::replace(&writer, &if_match, found, rates, budget).await
}

/// Refuses rates that are too large, ambiguous, or beyond the greatest amount of money.
fn check(zones: &[ShippingZone]) -> Answer<()> {
    let most = ShippingRates::MOST_ZONES;
    let parts: usize = zones.iter().map(|zone| zone.countries.len() + zone.bands.len()).sum();
    if zones.len() > most || parts > ShippingRates::MOST_PARTS {
        let detail =
            format!("The rates hold at most {most} zones, with {} countries and bands.", ShippingRates::MOST_PARTS);
        return Err(Problem::new(Kind::TooLarge, detail));
    }
    for (at, zone) in zones.iter().enumerate() {
        let invalid = |why: String| Err(Problem::invalid(format!("zones[{at}].{why}")));
        for (country_at, country) in zone.countries.iter().enumerate() {
            if let Err(why) = country.as_str().parse::<Country>() {
                return invalid(format!("countries[{country_at}]: {why}"));
            }
        }
        if let Some(twice) = repeated(&zone.countries) {
            return invalid(format!("countries[{twice}]: {} is there twice", zone.countries[twice]));
        }
        let earlier = zones[..at].iter().filter(|earlier| earlier.currency == zone.currency);
        for earlier in earlier {
            if zone.countries.is_empty() && earlier.countries.is_empty() {
                return invalid("countries: another zone of this currency is the rest of the world".to_owned());
            }
            if let Some(twice) = zone.countries.iter().find(|country| earlier.countries.contains(country)) {
                return invalid(format!("countries: {twice} is in another zone of this currency"));
            }
        }
        if !(1..=ShippingRates::MOST_BANDS).contains(&zone.bands.len()) {
            return invalid(format!("bands: must be 1 to {}", ShippingRates::MOST_BANDS));
        }
        let bounds = zone.bands.iter().map(|band| band.up_to.unwrap_or(i64::MAX));
        if !bounds.is_sorted_by(|one, next| one < next)
            || zone.bands.iter().any(|band| band.up_to < Some(0) && band.up_to.is_some())
        {
            return invalid("bands: upTo must rise from 0, and only the last band may be without".to_owned());
        }
        let amounts = zone.bands.iter().map(|band| band.price).chain(zone.free_from);
        if amounts.into_iter().any(|amount| !(0..=MOST_CHARGED).contains(&amount)) {
            return invalid(format!("bands: price and freeFrom must be 0 to {MOST_CHARGED}"));
        }
    }
    Ok(())
}
