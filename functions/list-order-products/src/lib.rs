//! `GET /orders/{orderId}/products`: the lines of an order.

use edge::{Answer, Description, Kind, Problem, Reply, Request, Route, Scope, Unfiltered};
use key_schema::entity::OrderItem;
use key_schema::layout::ProductsOfOrder;
use table::Reader;

pub const ROUTE: Route = Route::get("/orders/{orderId}/products", Scope::Shop);

/// Every order has a line, and every line knows whose it is: a first page with nothing of the caller's is no order of his.
pub async fn handle(table: Reader, request: Request) -> Answer {
    let order = request.path("orderId")?;
    let (Unfiltered {}, page) = request.list()?;
    let lines = table.page(&ProductsOfOrder { order: &order }, &page).await?;

    let caller = request.caller()?;
    let is_known = page.cursor.is_some() || !lines.items.is_empty();
    if is_known && lines.items.iter().all(|line| caller.may_see(&line.customer_id)) {
        Reply::ok(&lines)
    } else {
        Err(Problem::not_found("order"))
    }
}

pub fn describe() -> Description {
    ROUTE.describe("The products of an order, by id.").lists::<Unfiltered, OrderItem>().refuses(&[Kind::NotFound])
}
