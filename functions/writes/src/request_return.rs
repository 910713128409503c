//! `POST /orders/{orderId}/returns`: requests the return of units of a delivered order.

use http_api::{Answer, Caller, Created, Example, Json, Kind, Path, ReturnView, Route, Scope};
use key_schema::entity::LineUnits;
use key_schema::value::{IdempotencyKey, Name, OrderId, ReturnId};
use ordering::steps::{ReturnRequest, Transition};
use ordering::{Lifecycle, RequestedLine, Target, Withdrawal};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::{changed, units};

pub const ROUTE: Route = Route::post("/orders/{orderId}/returns", Scope::Shop)
    .summary(
        "Request the return of units of a delivered order. A customer may do so until the end of the period for \
         withdrawal, staff at any time. The customer is credited when staff receive the units.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition, Kind::TooFewUnits, Kind::WithdrawalOver])
    .access(ordering::REQUEST_RETURN)
    .access(table::MAY_ACCESS)
    .example(
        Example::at("09:51:50")
            .path("ccc44633-c523-5b35-9669-978f6b6bc252")
            .header("idempotency-key", "return-1")
            .body(r#"{"lines":[{"productId":"espresso-cup","quantity":1}],"reason":"A chip in the glaze"}"#),
    );

/// The units to return.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReturn {
    /// The units of each product. At most 40 products, each of them once.
    #[schema(min_items = 1, max_items = 40)]
    lines: Vec<RequestedLine>,
    /// The reason. A customer need not give one.
    reason: Option<Name>,
}

pub async fn handle(
    (orders, withdrawal): (Lifecycle, Withdrawal),
    Path(order): Path<OrderId>,
    caller: Caller,
    key: IdempotencyKey,
    Json(NewReturn { lines, reason }): Json<NewReturn>,
    budget: Budget,
) -> Answer<Created<Json<ReturnView>>> {
    let lines: Vec<LineUnits> = units::of(lines)?;
    let (id, reason) = (ReturnId::of(&order, &key), reason.map(String::from));

    let within = (!caller.is_admin).then_some(&withdrawal);
    let request = ReturnRequest { id: &id, lines: &lines, reason: reason.as_deref(), within };
    let of = Target::OrderSeenBy(&order, caller.customer());
    let requested = orders.change(of, Transition::RequestReturn(request), budget).await?;
    let answer = changed::answer(requested, "order", |whole| units::return_of(whole, &id))?;
    Ok(Created { location: format!("/orders/{order}/returns"), answer })
}
