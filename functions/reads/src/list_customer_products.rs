//! `GET /customers/{customerId}/products`: the order lines of a customer, oldest first.

use http_api::{Answer, CustomerOrGuest, Example, List, OrderItemView, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::PRODUCTS_OF_CUSTOMER;
use key_schema::page::Page;
use key_schema::value::TimeRange;
use table::Reader;

use crate::owner;

pub const ROUTE: Route = Route::get("/customers/{customerId}/products", Scope::Shop)
    .summary(
        "The products that a customer, or a guest whom the customer has claimed, ordered in a time range, oldest first, as \
             order lines.",
    )
    .access(&[Access::query(PRODUCTS_OF_CUSTOMER)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:39:20").path("ada").query("from=2026-01-01T00%3A00%3A00Z&limit=10"));

pub async fn handle(
    (table, urls): (Reader, Urls),
    of: CustomerOrGuest,
    List(placed, page): List<TimeRange>,
) -> Answer<Page<OrderItemView>> {
    let customer = owner::seen(&table, of).await?;
    let lines = table.page(&PRODUCTS_OF_CUSTOMER.ask((&customer, &placed)), &page).await?;
    Ok(lines.map(|line| OrderItemView::new(line, &urls)))
}
