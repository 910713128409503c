//! `GET /taxes`: the tax rates of the shop.

use http_api::{Answer, Example, Lifetime, Route, Scope, TaxesView, Versioned};
use key_schema::access::Access;
use key_schema::layout::TAXES_OF_SHOP;
use table::Reader;

pub const ROUTE: Route = Route::get("/taxes", Scope::Public)
    .summary("The tax rates of the shop.")
    .shared(Lifetime::List)
    .access(&[Access::query(TAXES_OF_SHOP)])
    .example(Example::at("09:33:40"));

/// Before staff have written rates, their version is 0.
pub async fn handle(table: Reader) -> Answer<Versioned<TaxesView>> {
    let taxes = table.one(&TAXES_OF_SHOP.ask(())).await?;
    let version = taxes.as_ref().map_or(0, |taxes| taxes.version);
    Ok(Versioned::new(version, taxes.map(TaxesView::from).unwrap_or_default()))
}
