//! `POST /orders/{orderId}/payment`: starts the card payment of an order, or resumes it.
//!
//! The customer's browser completes the payment at the provider, with the client secret of the answer. So no card number
//! reaches Till. After that, the same request again tells the payment's new state without waiting for the provider's
//! notice.

use http_api::{Answer, Caller, Example, Json, Kind, OptionalJson, Path, PaymentIntentView, Problem, Route, Scope};
use key_schema::entity::{CardPayment, PaymentState};
use key_schema::layout::OrderState;
use key_schema::value::{Money, OrderId};
use payments::{Cashier, Error, Failed, Provider, Seen};
use serde::Deserialize;
use table::{Budget, Reader};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/orders/{orderId}/payment", Scope::Shop)
    .summary(
        "Start the card payment of an order, or resume it. Give the client secret to the payment provider's form in the \
             browser, where the customer enters the card. However often this is called, the order is paid once.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition, Kind::AmountTooSmall])
    .access(ordering::START_PAYMENT)
    .access(ordering::OBSERVE_PAYMENT)
    .access(table::MAY_ACCESS)
    .grants(&[payments::READ_SECRET])
    .example(Example::at("09:35:10").path("9375d7e6-a688-5d10-8541-7fecc5582493"));

/// Nothing: the order says what is to be paid. A card is entered at the payment provider, never here.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {}

pub async fn handle(
    (table, cashier): (Reader, Cashier),
    Path(id): Path<OrderId>,
    caller: Caller,
    OptionalJson(Start {}): OptionalJson<Start>,
    budget: Budget,
) -> Answer<Json<PaymentIntentView>> {
    let whole = match table.order_seen_by(&id, caller.customer(), budget).await? {
        Some(OrderState::Placed(whole)) => *whole,
        Some(OrderState::Queued(queued)) => return Err(Problem::not_placed(&queued)),
        None => return Err(Problem::not_found("order")),
    };
    let asked = whole.invoice.card().map(CardPayment::asked);
    let asked = asked.ok_or_else(|| {
        let detail = if whole.order.total.is_zero() { "The order is free." } else { "Gift cards have paid the order." };
        Problem::new(Kind::InvalidTransition, detail).with("orderStatus", whole.order.status)
    })?;
    let seen = cashier.start(whole, budget).await.map_err(|error| not_started(error, asked))?;
    let Seen { whole, intent } = seen.ok_or_else(|| Problem::not_found("order"))?;
    let intent = intent.ok_or_else(|| Problem::invalid_transition(whole.order.status))?;
    let status = whole.invoice.card().map_or(PaymentState::Pending, CardPayment::state);
    let is_open = matches!(status, PaymentState::Pending | PaymentState::Declined);
    Ok(Json(PaymentIntentView {
        order_id: id,
        provider: Provider::NAME,
        intent_id: intent.id,
        client_secret: intent.client_secret.filter(|_| is_open),
        amount: intent.amount,
        status,
    }))
}

/// The problem of a payment that the provider did not start. Nothing was written before.
fn not_started(error: Failed, amount: Money) -> Problem {
    match error {
        Failed::Provider(Error::TooSmall(_)) => {
            let detail = "The payment provider takes no card payment as small as this. Cancel the order, and order again \
                          with more units or without a gift card. Or pay by bank transfer, if the shop takes that.";
            Problem::new(Kind::AmountTooSmall, detail).with("cardAmount", amount)
        }
        other => other.into(),
    }
}
