//! `POST /orders/{orderId}/status`: marks an order as being packed, shipped or delivered.

use http_api::{Answer, Caller, Example, Json, Kind, OrderView, Path, Replayable, Route, Scope};
use images::Urls;
use key_schema::entity::OrderStatus;
use key_schema::value::OrderId;
use ordering::steps::Transition;
use ordering::{CaptureWhen, Lifecycle, Target};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::changed;

pub const ROUTE: Route = Route::post("/orders/{orderId}/status", Scope::Admin)
    .summary("Mark an order as being packed, shipped or delivered, as a whole.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition])
    .access(ordering::ADVANCE)
    .example(Example::at("09:51:20").path("ccc44633-c523-5b35-9669-978f6b6bc252").body(r#"{"status":"SHIPPED"}"#));

/// The new status of an order: PACKING, SHIPPED or DELIVERED.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStatus {
    status: OrderStatus,
}

/// `steps::advance` refuses every other status: payment and cancellation have routes of their own.
pub async fn handle(
    (orders, capture, urls): (Lifecycle, CaptureWhen, Urls),
    Path(id): Path<OrderId>,
    caller: Caller,
    Json(NewStatus { status }): Json<NewStatus>,
    budget: Budget,
) -> Answer<Replayable<Json<OrderView>>> {
    let advance = Transition::Advance { to: status, captures: capture == CaptureWhen::Shipped };
    let advanced = orders.change(Target::Order(&id), advance, budget).await?;
    changed::answer(advanced, "order", |order| Ok(OrderView::seen_by(&caller, order, &urls)))
}
