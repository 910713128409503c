//! `GET /orders/{orderId}`: an order with its lines, its invoice and its flag.

use edge::{Answer, Description, Kind, OrderView, Problem, Reply, Request, Route, Scope};
use table::Reader;

pub const ROUTE: Route = Route::get("/orders/{orderId}", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let id = request.path("orderId")?;
    let order = table.order(&id, request.budget()).await?;

    let caller = request.caller()?;
    match order {
        Some(order) if caller.may_see(&order.order.customer_id) => Reply::ok(&OrderView::from(order)),
        _ => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("An order.").answers::<OrderView>().refuses(&[Kind::NotFound])
}
