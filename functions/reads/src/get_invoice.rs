//! `GET /invoices/{invoiceId}`: one invoice with its payments.

use http_api::{Answer, Caller, Example, InvoiceView, Json, Kind, Path, Problem, Route, Scope};
use key_schema::value::InvoiceId;
use table::Reader;

pub const ROUTE: Route = Route::get("/invoices/{invoiceId}", Scope::Shop)
    .summary("An invoice with its payments.")
    .refuses(&[Kind::NotFound])
    .access(table::INVOICE)
    .access(table::MAY_ACCESS)
    .example(Example::at("09:37:20").path("inv-ccc44633-c523-5b35-9669-978f6b6bc252"));

pub async fn handle(table: Reader, Path(id): Path<InvoiceId>, caller: Caller) -> Answer<Json<InvoiceView>> {
    let invoice = table.invoice(&id).await?;

    match invoice {
        Some(invoice) if table.may_access(caller.customer(), &invoice.customer_id).await? => {
            Ok(Json(InvoiceView::from(invoice)))
        }
        _ => Err(Problem::not_found("invoice")),
    }
}
