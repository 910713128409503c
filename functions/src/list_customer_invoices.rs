//! `GET /customers/{customerId}/invoices`: the invoices of a customer in a range of time.

use http_api::{Answer, Description, InvoiceView, Kind, Reply, Request, Route, Scope};
use key_schema::layout::InvoicesOfCustomer;
use key_schema::value::TimeRange;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/invoices", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let customer = request.own_customer()?;
    let (issued, page) = request.list()?;
    Reply::ok(&table.page(&InvoicesOfCustomer { customer: &customer, issued }, &page).await?.map(InvoiceView::from))
}

pub fn describe() -> Description {
    ROUTE
        .describe("The invoices of a customer in a range of time, oldest first.")
        .lists::<TimeRange, InvoiceView>()
        .refuses(&[Kind::NotFound])
}
