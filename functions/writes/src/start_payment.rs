//! `POST /orders/{orderId}/payment`: starts the card payment of an order, or resumes it.
//!
//! The customer's browser completes the payment at the provider, with the client secret of the answer. So no card number
//! reaches Till. After that, the same request again tells the payment's new state without waiting for the provider's
//! notice.

use http_api::{Answer, Caller, Example, Json, Kind, OptionalJson, Path, PaymentIntentView, Problem, Route, Scope};
use key_schema::entity::{CardPayment, PaymentState, Progress, Report};
use key_schema::value::{Money, OrderId};
use ordering::steps::Transition;
use ordering::{Lifecycle, Target, Transitioned};
use payments::{Error, Provider};
use serde::Deserialize;
use table::{Budget, Reader};
use utoipa::ToSchema;

use crate::units;

pub const ROUTE: Route = Route::post("/orders/{orderId}/payment", Scope::Shop)
    .summary(
        "Start the card payment of an order, or resume it. Give the client secret to the payment provider's form in the \
             browser, where the customer enters the card. However often this is called, the order is paid once.",
    )
    .refuses(&[Kind::NotFound, Kind::InvalidTransition, Kind::AmountTooSmall])
    .access(ordering::START_PAYMENT)
    .access(ordering::REPORT_PAYMENT)
    .access(table::MAY_ACCESS)
    .grants(&[payments::READ_SECRET])
    .example(Example::at("09:35:10").path("9375d7e6-a688-5d10-8541-7fecc5582493"));

/// Nothing: the order says what is to be paid. A card is entered at the payment provider, never here.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {}

/// The dependencies of starting a payment.
#[derive(Clone)]
pub struct Deps {
    pub(crate) table: Reader,
    pub(crate) orders: Lifecycle,
    pub(crate) provider: Provider,
}

lambda::from_environment!(Deps { table, orders, provider });

pub async fn handle(
    Deps { table, orders, provider }: Deps,
    Path(id): Path<OrderId>,
    caller: Caller,
    OptionalJson(Start {}): OptionalJson<Start>,
    budget: Budget,
) -> Answer<Json<PaymentIntentView>> {
    let whole = match table.order(&id, budget).await? {
        Some(whole) if table.may_access(caller.customer(), &whole.order.customer_id).await? => whole,
        _ => return Err(Problem::not_found("order")),
    };
    let nothing_to_pay = || {
        Problem::new(Kind::InvalidTransition, "Gift cards have paid the order.").with("orderStatus", whole.order.status)
    };
    let card = whole.invoice.card().ok_or_else(nothing_to_pay)?;

    let (intent, mut state) = match &card.provider {
        Some(payment) if payment.report.progress != Progress::Ended => {
            (provider.look_at(&payment.intent).await?, card.state())
        }
        _ => {
            let attempt = card.next_attempt().ok_or_else(|| Problem::invalid_transition(whole.order.status))?;
            let intent =
                provider.start(&id, attempt, card.asked()).await.map_err(|error| not_started(error, card.asked()))?;
            // Before the customer gets the secret: a payment that the table does not know could not be told apart from
            // that of another attempt.
            let start = Transition::StartPayment { intent: &intent.id, attempt, amount: intent.amount };
            match orders.change(Target::Order(&id), start, budget).await? {
                Transitioned::Done(whole) | Transitioned::DoneBefore(whole) => {
                    (intent, whole.invoice.card().map_or(PaymentState::Pending, CardPayment::state))
                }
                Transitioned::Refused(status) => return Err(Problem::invalid_transition(status)),
                Transitioned::Denied(denial) => return Err(units::denied(denial)),
                Transitioned::NotFound => return Err(Problem::not_found("order")),
            }
        }
    };
    if intent.report != Report::STARTED && !card.knows(&intent.id, intent.report) {
        let report = Transition::ReportPayment { intent: &intent.id, amount: intent.amount, report: intent.report };
        let reported = orders.change(Target::Order(&id), report, budget).await?;
        if let Transitioned::Done(whole) | Transitioned::DoneBefore(whole) = reported {
            state = whole.invoice.card().map_or(state, CardPayment::state);
        }
    }
    let is_open = matches!(state, PaymentState::Pending | PaymentState::Declined);
    Ok(Json(PaymentIntentView {
        order_id: id,
        provider: Provider::NAME,
        intent_id: intent.id,
        client_secret: intent.client_secret.filter(|_| is_open),
        amount: intent.amount,
        status: state,
    }))
}

/// The problem of a payment that the provider did not start. Nothing was written before.
fn not_started(error: Error, amount: Money) -> Problem {
    match error {
        Error::TooSmall(_) => {
            let detail = "The payment provider takes no card payment as small as this. Cancel the order, and order again \
                          with more units or without a gift card. Or pay by bank transfer, if the shop takes that.";
            Problem::new(Kind::AmountTooSmall, detail).with("cardAmount", amount)
        }
        other => other.into(),
    }
}
