//! `POST /orders/{orderId}/cancellation`: cancels an order and returns everything it took.

use http_api::{Answer, Caller, Example, Json, Kind, OptionalJson, OrderView, Path, Problem, Replayable, Route, Scope};
use key_schema::entity::{CancellationCause, Order};
use key_schema::value::{Name, OrderId};
use ordering::steps::Cancel;
use ordering::{Lifecycle, Transitioned};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/orders/{orderId}/cancellation", Scope::Shop)
    .summary(
        "Cancel an order that is not shipped yet. The stock, the use of a discount code and the gift card money that \
         it took are returned. Its card payment is voided, or becomes refundDue if it was captured.",
    )
    .refuses(&[Kind::NotFound, Kind::InvalidTransition])
    .access(ordering::CANCEL)
    .example(
        Example::at("09:52:00").path("9375d7e6-a688-5d10-8541-7fecc5582493").body(r#"{"reason":"Ordered too many"}"#),
    );

/// The cancellation of an order.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    reason: Option<Name>,
}

pub async fn handle(
    orders: Lifecycle,
    Path(id): Path<OrderId>,
    caller: Caller,
    OptionalJson(CancelRequest { reason }): OptionalJson<CancelRequest>,
    budget: Budget,
) -> Answer<Replayable<Json<OrderView>>> {
    let reason = reason.map(String::from);

    let cause = if caller.is_admin { CancellationCause::Staff } else { CancellationCause::Customer };
    let cancel = Cancel { cause, reason: reason.as_deref() };
    let may_see = |order: &Order| caller.may_see(&order.customer_id);
    match orders.cancel(&id, cancel, may_see, budget).await? {
        Transitioned::Done(order) => Ok(Replayable::first(Json(OrderView::seen_by(&caller, order)))),
        Transitioned::DoneBefore(order) => Ok(Replayable::again(Json(OrderView::seen_by(&caller, order)))),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::NotFound => Err(Problem::not_found("order")),
    }
}
