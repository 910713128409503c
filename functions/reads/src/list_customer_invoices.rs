//! `GET /customers/{customerId}/invoices`: the invoices of a customer, oldest first.

use http_api::{Answer, CustomerOrGuest, Example, InvoiceView, List, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::INVOICES_OF_CUSTOMER;
use key_schema::page::Page;
use key_schema::value::TimeRange;
use table::Reader;

use crate::owner;

pub const ROUTE: Route = Route::get("/customers/{customerId}/invoices", Scope::Shop)
    .summary("The invoices of a customer, or of a guest whom the customer has claimed, in a time range, oldest first.")
    .access(&[Access::query(INVOICES_OF_CUSTOMER)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:38:40").path("ada").query("from=2026-01-01&limit=10"));

pub async fn handle(
    table: Reader,
    of: CustomerOrGuest,
    List(issued, page): List<TimeRange>,
) -> Answer<Page<InvoiceView>> {
    let customer = owner::seen(&table, of).await?;
    Ok(table.page(&INVOICES_OF_CUSTOMER.ask((&customer, &issued)), &page).await?.map(InvoiceView::from))
}
