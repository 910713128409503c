//! `POST /payment-events`: what the payment provider reports about a payment.
//!
//! Reports come several times, in any order, and late. What the provider has reported only grows (`Report::join`), so
//! neither matters.

use http_api::{Answer, Example, Kind, Problem, Route, Scope, SignedBody};
use key_schema::value::Timestamp;
use lambda::Measure;
use ordering::{Lifecycle, Transitioned};
use payments::{Notice, Provider};
use table::Budget;
use tracing::{error, warn};

pub const ROUTE: Route = Route::post("/payment-events", Scope::Public)
    .summary("Take a report of the payment provider. It is signed with the webhook's secret, at most five minutes ago.")
    .limit(100, 200)
    .access(ordering::REPORT_PAYMENT)
    .grants(&[payments::READ_SECRET])
    .example(
        Example::at("09:36:00")
            .header("stripe-signature", "t=1795340160,v1=00")
            .body(r#"{"id": "evt_1", "type": "payment_intent.amount_capturable_updated", "data": {"object": {}}}"#),
    );

pub async fn handle(
    (orders, provider): (Lifecycle, Provider),
    SignedBody { signature, body }: SignedBody,
    budget: Budget,
) -> Answer<()> {
    let notice = provider.notice(&signature, &body, Timestamp::now()).await?;
    let notice = notice.map_err(|why| {
        warn!(%why, "a report of a payment is not believed");
        lambda::metrics(&[("PaymentReportsNotGenuine", Measure::Count(1))]);
        Problem::new(Kind::Validation, format!("The report is not taken: {why}."))
    })?;
    let Some(notice) = notice else { return Ok(()) };
    let (order, intent) = (&notice.order, &notice.intent);
    match orders.report_payment(order, intent, notice.amount, notice.report, budget).await? {
        Transitioned::Done(whole) | Transitioned::DoneBefore(whole) => {
            let newest = whole.invoice.card().and_then(|card| card.provider.as_ref());
            // The report of an earlier attempt may come late. By now that attempt has ended, and holds no money.
            if newest.is_none_or(|payment| payment.intent == *intent)
                || !provider.look_at(intent).await?.report.holds_money()
            {
                return Ok(());
            }
            Err(mismatch(&notice, "The payment is not that of the order."))
        }
        Transitioned::Refused(_) | Transitioned::Denied(_) => {
            Err(mismatch(&notice, "The amount is not that of the order."))
        }
        Transitioned::NotFound => {
            warn!(%order, %intent, "the payment provider reports a payment of an order that is not here");
            Ok(())
        }
    }
}

/// Tells of a payment that does not fit its order. Staff have to look at it: Till neither captures nor returns it.
fn mismatch(notice: &Notice, detail: &'static str) -> Problem {
    let Notice { order, intent, amount, .. } = notice;
    error!(%order, %intent, %amount, detail, "the payment provider reports a payment that does not fit its order");
    lambda::metrics(&[("PaymentMismatches", Measure::Count(1))]);
    Problem::new(Kind::Validation, detail)
}
