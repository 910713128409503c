//! `GET /invoices/{invoiceId}`: one invoice with its payments.

use http_api::{Answer, Description, InvoiceView, Kind, Problem, Reply, Request, Route, Scope};
use table::Reader;

pub const ROUTE: Route = Route::get("/invoices/{invoiceId}", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let id = request.path("invoiceId")?;
    let invoice = table.invoice(&id).await?;

    let caller = request.caller()?;
    match invoice {
        Some(invoice) if caller.may_see(&invoice.customer_id) => Reply::ok(&InvoiceView::from(invoice)),
        _ => Err(Problem::not_found("invoice")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("An invoice with its payments.").answers::<InvoiceView>().refuses(&[Kind::NotFound])
}
