//! `GET /customers/{customerId}/invoices`: the invoices of a customer, oldest first.

use http_api::{Answer, CustomerOrGuest, Example, InvoiceView, List, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::InvoicesOfCustomer;
use key_schema::page::Page;
use key_schema::value::TimeRange;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/invoices", Scope::Shop)
    .summary("The invoices of a customer, or of a guest whom the customer has claimed, in a time range, oldest first.")
    .access(&[Access::query::<InvoicesOfCustomer>()])
    .access(table::LETS_IN)
    .example(Example::at("09:38:40").path("ada").query("from=2026-01-01&limit=10"));

pub async fn handle(
    table: Reader,
    CustomerOrGuest { id: customer, caller }: CustomerOrGuest,
    List(issued, page): List<TimeRange>,
) -> Answer<Page<InvoiceView>> {
    if !table.lets_in(caller.customer(), &customer).await? {
        return Err(Problem::not_found("customer"));
    }
    Ok(table.page(&InvoicesOfCustomer { customer: &customer, issued }, &page).await?.map(InvoiceView::from))
}
