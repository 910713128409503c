//! `GET /customers/{customerId}/orders`: the orders of a customer, newest first.

use http_api::{Answer, CustomerOrGuest, Example, List, OrderView, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::ORDERS_OF_CUSTOMER;
use key_schema::page::Page;
use key_schema::value::TimeRange;
use table::Reader;

use crate::owner;

pub const ROUTE: Route = Route::get("/customers/{customerId}/orders", Scope::Shop)
    .summary("The orders of a customer, or of a guest whom the customer has claimed, in a time range, newest first.")
    .access(&[Access::query(ORDERS_OF_CUSTOMER)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:45:20").path("ada").query("from=2026-01-01&limit=10"));

pub async fn handle(
    table: Reader,
    of: CustomerOrGuest,
    List(placed, page): List<TimeRange>,
) -> Answer<Page<OrderView>> {
    let customer = owner::seen(&table, of).await?;
    let page = table.page(&ORDERS_OF_CUSTOMER.ask((&customer, &placed)), &page).await?;
    Ok(page.map(OrderView::from))
}
