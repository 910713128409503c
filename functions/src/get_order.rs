//! `GET /orders/{orderId}`: an order with its lines, its invoice and its flag; or that it waits, or why it was
//! rejected.

use http_api::{Answer, Description, Kind, OrderStateView, OrderView, Problem, Reply, Request, Route, Scope};
use key_schema::layout::OrderState;
use key_schema::value::Timestamp;
use table::Reader;

pub const ROUTE: Route = Route::get("/orders/{orderId}", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let id = request.path("orderId")?;
    let order = table.order_state(&id, request.budget()).await?;

    let caller = request.caller()?;
    match order {
        Some(OrderState::Placed(order)) if caller.may_see(&order.order.customer_id) => {
            Reply::ok(&OrderStateView::Placed(Box::new(OrderView::seen_by(caller, *order))))
        }
        Some(OrderState::Queued(order))
            if caller.may_see(&order.customer_id) && !order.is_expired(Timestamp::now()) =>
        {
            let waits = order.refusal.is_none();
            Ok(Reply::ok(&OrderStateView::Queued(order.into()))?.again_later(waits))
        }
        _ => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("An order.").answers::<OrderStateView>().may_wait().refuses(&[Kind::NotFound])
}
