//! `POST /orders/{orderId}/cancellation`: calls an order off, and puts back all it took.

use edge::{Answer, Description, Kind, OrderView, Problem, Reply, Request, Route, Scope};
use key_schema::value::{Name, OrderId};
use ordering::{Change, Lifecycle};
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

    let may_see = |order: &key_schema::entity::Order| caller.may_see(&order.customer_id);
    match orders.cancel(&id, reason.as_deref(), may_see, request.budget()).await? {
        Change::Done(order) => Reply::ok(&OrderView::from(order)),
        Change::DoneBefore(order) => Ok(Reply::ok(&OrderView::from(order))?.replayed(true)),
        Change::Refused(status) => Err(Problem::invalid_transition(status)),
        Change::NotFound => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Cancel an order that is not shipped yet. Stock, discount code and gift cards get back what it took.")
        .accepts::<CancelRequest>()
        .replays()
        .answers::<OrderView>()
        .refuses(&[Kind::NotFound, Kind::InvalidTransition])
}
