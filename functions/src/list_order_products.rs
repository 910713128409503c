//! `GET /orders/{orderId}/products`: the lines of an order.

use http_api::{Answer, Description, Kind, OrderItemView, Problem, Reply, Request, Route, Scope, Unfiltered};
use key_schema::layout::{InvoiceOfOrder, ProductsOfOrder};
use table::Reader;

pub const ROUTE: Route = Route::get("/orders/{orderId}/products", Scope::Shop);

/// Every line knows whose it is. A page without lines, which follows a last full one, asks the invoice.
pub async fn handle(table: Reader, request: Request) -> Answer {
    let order = request.path("orderId")?;
    let (Unfiltered {}, page) = request.list()?;
    let lines = table.page(&ProductsOfOrder { order: &order }, &page).await?;

    let owner = match lines.items.first() {
        Some(line) => Some(line.customer_id.clone()),
        None => table.one(&InvoiceOfOrder { order: &order }).await?.map(|invoice| invoice.customer_id),
    };
    let caller = request.caller()?;
    match owner {
        Some(owner) if caller.may_see(&owner) => Reply::ok(&lines.map(OrderItemView::from)),
        _ => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("The products of an order, by id.").lists::<Unfiltered, OrderItemView>().refuses(&[Kind::NotFound])
}
