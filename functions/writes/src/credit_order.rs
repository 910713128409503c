//! `POST /orders/{orderId}/credits`: gives money back without units.

use http_api::{Answer, Example, Json, Kind, OrderView, Path, Problem, Replayable, Route, Scope};
use images::Urls;
use key_schema::value::{Charge, IdempotencyKey, Money, Name, OrderId};
use ordering::steps::{AllowanceRequest, Transition};
use ordering::{Lifecycle, Target};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::changed;

pub const ROUTE: Route = Route::post("/orders/{orderId}/credits", Scope::Admin)
    .summary(
        "Give the customer of a paid order some of the money back, without units: something was wrong with the goods, \
             for example. Gift cards have their share at once, and a payment that was captured becomes refundDue.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition])
    .access(ordering::ALLOW)
    .example(
        Example::at("09:52:40")
            .path("ccc44633-c523-5b35-9669-978f6b6bc252")
            .header("idempotency-key", "credit-1")
            .body(r#"{"amount":{"amount":500,"currency":"EUR"},"reason":"A scratch on the saucer"}"#),
    );

/// The money to give back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCredit {
    /// At least 1, and at most what is left of the order's total.
    amount: Charge,
    /// The reason, which the customer can read.
    reason: Name,
}

pub async fn handle(
    (orders, urls): (Lifecycle, Urls),
    Path(order): Path<OrderId>,
    key: IdempotencyKey,
    Json(NewCredit { amount, reason }): Json<NewCredit>,
    budget: Budget,
) -> Answer<Replayable<Json<OrderView>>> {
    let (amount, reason) = (Money::from(amount), String::from(reason));
    if amount.is_zero() {
        return Err(Problem::invalid("amount: must be at least 1"));
    }
    let request = Transition::Allow(AllowanceRequest { key: &key, amount, reason: &reason });
    let credited = orders.change(Target::Order(&order), request, budget).await?;
    changed::answer(credited, "order", |whole| Ok(OrderView::of_customer(whole, &urls)))
}
