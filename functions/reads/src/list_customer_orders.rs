//! `GET /customers/{customerId}/orders`: the orders of a customer, newest first.

use http_api::{Answer, CustomerOrGuest, Example, List, OrderView, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::ORDERS_OF_CUSTOMER;
use key_schema::page::{Page, PageRequest};
use key_schema::value::TimeRange;
use table::Reader;

use crate::owner;

pub const ROUTE: Route = Route::get("/customers/{customerId}/orders", Scope::Shop)
    .summary(
        "The orders of a customer, or of a guest whom the customer has claimed, in a time range, newest first, with their \
             first lines. A page has at most 50.",
    )
    .limit(50, 100)
    .access(&[Access::query(ORDERS_OF_CUSTOMER)])
    .access(table::FIRST_LINES)
    .access(table::MAY_ACCESS)
    .example(Example::at("09:45:20").path("ada").query("from=2026-01-01&limit=10"));

/// The most orders of a page, whatever `limit` says. Five lines with the longest attributes are 93 KB, and an answer of
/// Lambda may have 6 MB.
const MOST: u8 = 50;

/// The most lines that are shown of an order.
const LINES: u8 = 5;

/// Takes two Queries, and those of [`Reader::first_lines`] for long pages.
pub async fn handle(
    (table, urls): (Reader, Urls),
    of: CustomerOrGuest,
    List(placed, page): List<TimeRange>,
) -> Answer<Page<OrderView>> {
    let customer = owner::seen(&table, of).await?;
    let page = PageRequest { limit: page.limit.min(MOST), ..page };
    let Page { items: orders, next } = table.page(&ORDERS_OF_CUSTOMER.ask((&customer, &placed)), &page).await?;
    let lines = table.first_lines(&customer, &orders, LINES).await?;
    let items = orders.into_iter().zip(lines).map(|(order, lines)| OrderView::listed(order, lines, &urls)).collect();
    Ok(Page { items, next })
}
