//! `GET /shipping`: the shipping rates of the shop.

use http_api::{Answer, Example, Lifetime, Route, Scope, ShippingView, Versioned};
use key_schema::access::Access;
use key_schema::layout::RATES_OF_SHOP;
use table::Reader;

pub const ROUTE: Route = Route::get("/shipping", Scope::Public)
    .summary("The shipping rates of the shop.")
    .shared(Lifetime::List)
    .access(&[Access::query(RATES_OF_SHOP)])
    .example(Example::at("09:34:25"));

/// Before staff have written rates, their version is 0.
pub async fn handle(table: Reader) -> Answer<Versioned<ShippingView>> {
    let rates = table.one(&RATES_OF_SHOP.ask(())).await?;
    let version = rates.as_ref().map_or(0, |rates| rates.version);
    Ok(Versioned::new(version, rates.map(ShippingView::from).unwrap_or_default()))
}
