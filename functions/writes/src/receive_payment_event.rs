//! `POST /payment-events`: the payment provider says that something about a payment has changed.
//!
//! Messages come several times, in any order, late or not at all. What one says does not matter: the function looks at
//! the provider, and records what it holds.

use http_api::{Answer, Example, Kind, Problem, Route, Scope, SignedBody};
use key_schema::value::{IntentId, OrderId, Timestamp};
use lambda::Measure;
use payments::{Cashier, Error, Failed, Notice, Provider, Seen};
use table::Budget;
use tracing::{error, warn};

pub const ROUTE: Route = Route::post("/payment-events", Scope::Public)
    .summary(
        "Take a message of the payment provider. It is signed with the webhook's secret, at most five minutes ago.",
    )
    // A message that is not genuine costs a hash, and must not make the provider wait.
    .limit(1000, 2000)
    .access(ordering::OBSERVE_PAYMENT)
    .grants(&[payments::READ_SECRET])
    .example(
        Example::at("09:36:00")
            .header("stripe-signature", "t=1795340160,v1=00")
            .body(r#"{"id": "evt_1", "type": "payment_intent.amount_capturable_updated", "data": {"object": {}}}"#),
    );

pub async fn handle(
    (cashier, provider): (Cashier, Provider),
    SignedBody { signature, body }: SignedBody,
    budget: Budget,
) -> Answer<()> {
    let notice = provider.notice(&signature, &body, Timestamp::now()).await?;
    let notice = notice.map_err(|why| {
        warn!(%why, "a message of the payment provider is not believed");
        lambda::metrics(&[("PaymentReportsNotGenuine", Measure::Count(1))]);
        Problem::new(Kind::Validation, format!("The message is not taken: {why}."))
    })?;
    let Some(notice) = notice else { return Ok(()) };
    let Some(order) = known(provider.order_of(&notice).await)? else { return Ok(()) };
    let Notice { intent, .. } = notice;
    match cashier.look(&order, budget).await {
        Ok(Some(seen)) => compare(&provider, &order, &intent, &seen).await,
        Ok(None) => {
            warn!(%order, %intent, "the payment provider tells of a payment of an order that is not here");
            Ok(())
        }
        Err(Failed::Differs) => Err(mismatch(&order, &intent, "The amount is not that of the order.")),
        Err(failed) => Err(failed.into()),
    }
}

/// Refuses a message of a payment that is not the order's and holds money. An earlier attempt of the order has ended, and
/// holds none.
async fn compare(provider: &Provider, order: &OrderId, intent: &IntentId, seen: &Seen) -> Answer<()> {
    match seen.intent.as_ref().filter(|newest| newest.id == *intent) {
        None if known(provider.look_at(intent).await)?.held.is_some() => {
            Err(mismatch(order, intent, "The payment is not that of the order."))
        }
        _ => Ok(()),
    }
}

/// A look at the intent that a message names. One that the provider does not know is a mistake of the sender.
fn known<T>(look: Result<T, Error>) -> Answer<T> {
    match look {
        Err(Error::Refused { status: 404, .. }) => {
            Err(Problem::new(Kind::Validation, "The payment provider does not know the payment."))
        }
        other => Ok(other?),
    }
}

/// Tells of a payment that does not fit its order. Staff have to look at it: Till neither captures nor returns it.
fn mismatch(order: &OrderId, intent: &IntentId, detail: &'static str) -> Problem {
    error!(%order, %intent, detail, "the payment provider has a payment that does not fit its order");
    lambda::metrics(&[("PaymentMismatches", Measure::Count(1))]);
    Problem::new(Kind::Validation, detail)
}
