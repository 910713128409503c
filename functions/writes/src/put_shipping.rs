//! `PUT /shipping`: replaces the shipping rates of the shop.

use http_api::{Answer, Example, IfMatch, Json, Kind, Problem, Route, Scope, ShippingView, Versioned};
use key_schema::access::Access;
use key_schema::entity::{ShippingMethod, ShippingRates, ShippingZone};
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
                "methods": [{
                    "methodId": "standard",
                    "name": "Standard, 2 to 4 days",
                    "by": "weight",
                    "bands": [{"upTo": 2000, "price": 490}, {"upTo": 30000, "price": 890}],
                    "freeFrom": 5000
                }, {
                    "methodId": "express",
                    "name": "Express, the next day",
                    "by": "weight",
                    "bands": [{"upTo": 30000, "price": 1490}]
                }]
            }, {
                "currency": "EUR",
                "methods": [{
                    "methodId": "standard",
                    "name": "Airmail",
                    "by": "price",
                    "bands": [{"price": 1490}]
                }]
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
    let (most, bytes) = (ShippingRates::MOST_ZONES, ShippingRates::MOST_BYTES);
    // Plain structs have a JSON form.
    if zones.len() > most || serde_json::to_vec(zones).is_ok_and(|json| json.len() > bytes) {
        return Err(Problem::new(
            Kind::TooLarge,
            format!("The rates hold at most {most} zones and {bytes} bytes of JSON."),
        ));
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
        if !(1..=ShippingRates::MOST_METHODS).contains(&zone.methods.len()) {
            return invalid(format!("methods: must be 1 to {}", ShippingRates::MOST_METHODS));
        }
        if let Some(twice) = repeated(zone.methods.iter().map(|method| &method.method_id)) {
            return invalid(format!("methods[{twice}].methodId is also in an earlier method"));
        }
        for (method_at, method) in zone.methods.iter().enumerate() {
            check_bands(method).or_else(|why| invalid(format!("methods[{method_at}].bands: {why}")))?;
        }
    }
    Ok(())
}

fn check_bands(ShippingMethod { bands, free_from, .. }: &ShippingMethod) -> Result<(), String> {
    if !(1..=ShippingRates::MOST_BANDS).contains(&bands.len()) {
        return Err(format!("must be 1 to {}", ShippingRates::MOST_BANDS));
    }
    let bounds = bands.iter().map(|band| band.up_to.unwrap_or(i64::MAX));
    if !bounds.is_sorted_by(|one, next| one < next)
        || bands.iter().any(|band| band.up_to < Some(0) && band.up_to.is_some())
    {
        return Err("upTo must rise from 0, and only the last band may be without".to_owned());
    }
    let mut amounts = bands.iter().map(|band| band.price).chain(*free_from);
    if amounts.any(|amount| !(0..=MOST_CHARGED).contains(&amount)) {
        return Err(format!("price and freeFrom must be 0 to {MOST_CHARGED}"));
    }
    Ok(())
}
