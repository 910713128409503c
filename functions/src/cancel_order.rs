//! `POST /orders/{orderId}/cancellation`: cancels an order, and puts back all it took.

use http_api::{Answer, Description, Kind, OrderView, Problem, Reply, Request, Route, Scope};
use key_schema::entity::{CancellationCause, Order};
use key_schema::value::{Name, OrderId};
use ordering::steps::Cancel;
use ordering::{Transitioned, Lifecycle};
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/orders/{orderId}/cancellation", Scope::Shop);

/// A cancellation.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    reason: Option<Name>,
}

pub async fn handle(orders: Lifecycle, request: Request) -> Answer {
    let id: OrderId = request.path("orderId")?;
    let caller = request.caller()?;
    let CancelRequest { reason } = request.json_if_any()?;
    let reason = reason.map(String::from);

    let cause = if caller.is_admin { CancellationCause::Staff } else { CancellationCause::Customer };
    let cancel = Cancel { cause, reason: reason.as_deref() };
    let may_see = |order: &Order| caller.may_see(&order.customer_id);
    match orders.cancel(&id, cancel, may_see, request.budget()).await? {
        Transitioned::Done(order) => Reply::ok(&OrderView::seen_by(caller, order)),
        Transitioned::DoneBefore(order) => Ok(Reply::ok(&OrderView::seen_by(caller, order))?.replayed(true)),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::NotFound => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe(
            "Cancel an order that is not shipped yet. Stock, discount code and gift cards get back what it took. A card \
             payment is voided; one that was captured becomes refundDue.",
        )
        .accepts_if_any::<CancelRequest>()
        .replays()
        .answers::<OrderView>()
        .refuses(&[Kind::NotFound, Kind::InvalidTransition])
}
