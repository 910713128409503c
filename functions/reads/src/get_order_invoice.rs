//! `GET /orders/{orderId}/invoice`: the invoice of an order.

use http_api::{Answer, Caller, Example, InvoiceView, Json, Kind, Path, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::{INVOICE_OF_ORDER, ORDER_BY_ID};
use key_schema::value::OrderId;
use table::{Budget, Reader};

use crate::owner;

pub const ROUTE: Route = Route::get("/orders/{orderId}/invoice", Scope::Shop)
    .summary("The invoice of an order.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced])
    .access(&[Access::query(INVOICE_OF_ORDER), Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:36:40").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

pub async fn handle(
    table: Reader,
    Path(order): Path<OrderId>,
    caller: Caller,
    budget: Budget,
) -> Answer<Json<InvoiceView>> {
    let invoice = table.one(&INVOICE_OF_ORDER.ask(&order)).await?;

    match invoice {
        Some(invoice) if table.may_access(caller.customer(), &invoice.customer_id).await? => {
            Ok(Json(InvoiceView::from(invoice)))
        }
        // It may be in the queue.
        _ => Ok(Json(owner::placed(&table, &order, &caller, budget).await?.invoice.into())),
    }
}
