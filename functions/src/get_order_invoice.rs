//! `GET /orders/{orderId}/invoice`: the invoice of an order.

use http_api::{Answer, Description, InvoiceView, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::layout::InvoiceOfOrder;
use table::Reader;

pub const ROUTE: Route = Route::get("/orders/{orderId}/invoice", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let order = request.path("orderId")?;
    let invoice = table.one(&InvoiceOfOrder { order: &order }).await?;

    let caller = request.caller()?;
    match invoice {
        Some(invoice) if caller.may_see(&invoice.customer_id) => Reply::ok(&InvoiceView::from(invoice)),
        _ => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("The invoice of an order.").answers::<InvoiceView>().refuses(&[Kind::NotFound])
}
