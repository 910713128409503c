//! `GET /taxes`: the tax rates of the shop.

use http_api::{Answer, Example, Kind, Lifetime, Problem, Route, Scope, TaxesView, Versioned};
use key_schema::access::Access;
use key_schema::entity::Taxes;
use key_schema::layout::Consistency;
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/taxes", Scope::Public)
    .summary("The tax rates.")
    .shared(Lifetime::List)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<Taxes>()])
    .example(Example::at("09:33:40"));

/// The read is eventually consistent, like that of an order.
pub async fn handle(table: Reader, budget: Budget) -> Answer<Versioned<TaxesView>> {
    let found: Vec<Taxes> = table.batch(vec![Taxes::only_key()], Consistency::Eventual, budget).await?;
    let taxes = found.into_iter().next().ok_or_else(|| Problem::not_found("tax rates"))?;
    Ok(Versioned::new(taxes.version, TaxesView::from(taxes)))
}
