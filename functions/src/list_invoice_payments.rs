//! `GET /invoices/{invoiceId}/payments`: the payments of an invoice.

use http_api::{Answer, Description, Kind, PaymentView, Problem, Reply, Request, Route, Scope, Unfiltered};
use table::{Page, Reader};

pub const ROUTE: Route = Route::get("/invoices/{invoiceId}/payments", Scope::Shop);

/// An invoice has at most five payments, and they lie inside it: there is always one page, with all of them.
pub async fn handle(table: Reader, request: Request) -> Answer {
    let id = request.path("invoiceId")?;
    let Unfiltered {} = request.query()?;
    let invoice = table.payments(&id).await?;

    let caller = request.caller()?;
    match invoice {
        Some(invoice) if caller.may_see(&invoice.customer_id) => {
            Reply::ok(&Page { items: invoice.payments, next: None }.map(PaymentView::from))
        }
        _ => Err(Problem::not_found("invoice")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("The payments of an invoice.").lists_all::<PaymentView>().refuses(&[Kind::NotFound])
}
