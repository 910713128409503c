//! `GET /orders/{orderId}`: one order, which is placed, queued or rejected.

use http_api::{Answer, Caller, Example, Json, Kind, OrderStateView, OrderView, Path, Pollable, Problem, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::{ORDER_BY_ID, OrderState};
use key_schema::value::OrderId;
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/orders/{orderId}", Scope::Shop)
    .summary("An order with its lines, its invoice and its flag; or its state, if it is queued or was rejected.")
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:35:20").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

pub async fn handle(
    (table, urls): (Reader, Urls),
    Path(id): Path<OrderId>,
    caller: Caller,
    budget: Budget,
) -> Answer<Pollable<Json<OrderStateView>>> {
    match table.order_seen_by(&id, caller.customer(), budget).await? {
        Some(OrderState::Placed(order)) => {
            let view = OrderStateView::Placed(Box::new(OrderView::seen_by(&caller, *order, &urls)));
            Ok(Pollable { answer: Json(view), is_final: true })
        }
        Some(OrderState::Queued(order)) => {
            let is_final = order.refusal.is_some();
            Ok(Pollable { answer: Json(OrderStateView::Queued((*order).into())), is_final })
        }
        None => Err(Problem::not_found("order")),
    }
}
