//! `GET /customers/{customerId}/orders`: the orders of a customer, newest first.

use http_api::{Answer, Example, List, OrderView, OwnCustomer, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::OrdersOfCustomer;
use key_schema::page::Page;
use key_schema::value::TimeRange;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/orders", Scope::Shop)
    .summary("The orders of a customer in a time range, newest first.")
    .access(&[Access::query::<OrdersOfCustomer>()])
    .example(Example::at("09:45:20").path("ada").query("from=2026-01-01&limit=10"));

pub async fn handle(
    table: Reader,
    OwnCustomer(customer): OwnCustomer,
    List(placed, page): List<TimeRange>,
) -> Answer<Page<OrderView>> {
    let page = table.page(&OrdersOfCustomer { customer: &customer, placed }, &page).await?;
    Ok(page.map(OrderView::from))
}
