//! `GET /orders/{orderId}`: one order, which is placed, queued or rejected.

use http_api::{Answer, Caller, Example, Json, Kind, OrderStateView, OrderView, Path, Pollable, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::{ORDER_BY_ID, OrderState};
use key_schema::value::{OrderId, Timestamp};
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/orders/{orderId}", Scope::Shop)
    .summary("An order with its lines, its invoice and its flag; or its state, if it is queued or was rejected.")
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:35:20").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

pub async fn handle(
    table: Reader,
    Path(id): Path<OrderId>,
    caller: Caller,
    budget: Budget,
) -> Answer<Pollable<Json<OrderStateView>>> {
    let order = table.order_state(&id, budget).await?;

    match order {
        Some(OrderState::Placed(order)) if table.may_access(caller.customer(), &order.order.customer_id).await? => {
            let view = OrderStateView::Placed(Box::new(OrderView::seen_by(&caller, *order)));
            Ok(Pollable { answer: Json(view), is_final: true })
        }
        Some(OrderState::Queued(order))
            if !order.is_expired(Timestamp::now())
                && table.may_access(caller.customer(), &order.customer_id).await? =>
        {
            let is_final = order.refusal.is_some();
            Ok(Pollable { answer: Json(OrderStateView::Queued(order.into())), is_final })
        }
        _ => Err(Problem::not_found("order")),
    }
}
