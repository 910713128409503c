//! `POST /orders/{orderId}/status`: an order is shipped, or has arrived.

use http_api::{Answer, Description, Kind, OrderView, Problem, Reply, Request, Route, Scope};
use key_schema::entity::OrderStatus;
use ordering::{Transitioned, Lifecycle};
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/orders/{orderId}/status", Scope::Admin);

/// Where the order stands now.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStatus {
    status: OrderStatus,
}

/// An order becomes paid by its payment, and cancelled by its cancellation; here it becomes shipped and delivered.
pub async fn handle(orders: Lifecycle, request: Request) -> Answer {
    let id = request.path("orderId")?;
    let NewStatus { status } = request.json()?;
    match orders.advance(&id, status, request.budget()).await? {
        Transitioned::Done(order) => Reply::ok(&OrderView::seen_by(request.caller()?, order)),
        Transitioned::DoneBefore(order) => Ok(Reply::ok(&OrderView::seen_by(request.caller()?, order))?.replayed(true)),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::NotFound => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Say that an order is shipped, or delivered.")
        .accepts::<NewStatus>()
        .replays()
        .answers::<OrderView>()
        .refuses(&[Kind::NotFound, Kind::InvalidTransition])
}
