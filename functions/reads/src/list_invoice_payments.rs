//! `GET /invoices/{invoiceId}/payments`: the payments of an invoice.

use http_api::{All, Answer, Caller, Example, Kind, Path, PaymentView, Problem, Query, Route, Scope, Unfiltered};
use key_schema::value::InvoiceId;
use table::Reader;

pub const ROUTE: Route = Route::get("/invoices/{invoiceId}/payments", Scope::Shop)
    .summary("The payments of an invoice.")
    .refuses(&[Kind::NotFound])
    .access(table::INVOICE)
    .access(table::MAY_ACCESS)
    .example(Example::at("09:38:00").path("inv-ccc44633-c523-5b35-9669-978f6b6bc252"));

/// All payments are in one page: an invoice has at most five, and its item contains them.
pub async fn handle(
    table: Reader,
    Path(id): Path<InvoiceId>,
    Query(Unfiltered {}): Query<Unfiltered>,
    caller: Caller,
) -> Answer<All<PaymentView>> {
    let invoice = table.payments(&id).await?;

    match invoice {
        Some(invoice) if table.may_access(caller.customer(), &invoice.customer_id).await? => {
            Ok(All(invoice.payments.into_iter().map(PaymentView::from).collect()))
        }
        _ => Err(Problem::not_found("invoice")),
    }
}
