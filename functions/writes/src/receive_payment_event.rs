//! `POST /payment-events`: what the payment provider reports about a payment.
//!
//! Reports come several times, in any order, and late. What the provider has reported only grows (`Report::join`), so
//! neither matters. A refund that fails later would be a step back: it changes nothing here, and staff are told.

use http_api::{Answer, Example, Kind, Problem, Route, Scope, SignedBody};
use key_schema::value::Timestamp;
use lambda::Measure;
use ordering::steps::Transition;
use ordering::{Lifecycle, Target, Transitioned};
use payments::{FailedRefund, Notice, PaymentReport, Provider};
use table::{Budget, Reader};
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
    (table, orders, provider): (Reader, Lifecycle, Provider),
    SignedBody { signature, body }: SignedBody,
    budget: Budget,
) -> Answer<()> {
    let notice = provider.notice(&signature, &body, Timestamp::now()).await?;
    let notice = notice.map_err(|why| {
        warn!(%why, "a report of a payment is not believed");
        lambda::metrics(&[("PaymentReportsNotGenuine", Measure::Count(1))]);
        Problem::new(Kind::Validation, format!("The report is not taken: {why}."))
    })?;
    match notice {
        None => Ok(()),
        Some(Notice::Payment(told)) => record(&orders, &provider, &told, budget).await,
        Some(Notice::RefundFailed(failed)) => tell_staff(&table, &provider, failed, budget).await,
    }
}

/// Records a report of a payment.
async fn record(orders: &Lifecycle, provider: &Provider, told: &PaymentReport, budget: Budget) -> Answer<()> {
    let (order, intent) = (&told.order, &told.intent);
    let report = Transition::ReportPayment { intent, amount: told.amount, report: told.report };
    match orders.change(Target::Order(order), report, budget).await? {
        Transitioned::Done(whole) | Transitioned::DoneBefore(whole) => {
            let newest = whole.invoice.card().and_then(|card| card.provider.as_ref());
            // The report of an earlier attempt may come late. By now that attempt has ended, and holds no money.
            if newest.is_none_or(|payment| payment.intent == *intent)
                || !provider.look_at(intent).await?.report.holds_money()
            {
                return Ok(());
            }
            Err(mismatch(told, "The payment is not that of the order."))
        }
        Transitioned::Refused(_) | Transitioned::Denied(_) => {
            Err(mismatch(told, "The amount is not that of the order."))
        }
        Transitioned::NotFound => {
            warn!(%order, %intent, "the payment provider reports a payment of an order that is not here");
            Ok(())
        }
    }
}

/// Tells staff of a refund that failed: the customer has no money, although the payment shows as refunded. Staff have to
/// pay by another way, because the provider can no longer reach the card. A refund that somebody made in the provider's
/// dashboard names no order; its payment does.
async fn tell_staff(table: &Reader, provider: &Provider, failed: FailedRefund, budget: Budget) -> Answer<()> {
    let FailedRefund { order, intent, refund, amount } = failed;
    let order = match order {
        Some(order) => Some(order),
        None => provider.look_at(&intent).await?.order,
    };
    let Some(order) = order else { return Ok(()) };
    if table.order(&order, budget).await?.is_none() {
        warn!(%order, %intent, refund, "the payment provider reports a refund of an order that is not here");
        return Ok(());
    }
    error!(%order, %intent, refund, %amount, "a refund has failed at the payment provider");
    alarm();
    Ok(())
}

/// Tells of a payment that does not fit its order. Staff have to look at it: Till neither captures nor returns it.
fn mismatch(told: &PaymentReport, detail: &'static str) -> Problem {
    let PaymentReport { order, intent, amount, .. } = told;
    error!(%order, %intent, %amount, detail, "the payment provider reports a payment that does not fit its order");
    alarm();
    Problem::new(Kind::Validation, detail)
}

/// Counts for the alarm `PaymentsDiffer`.
fn alarm() {
    lambda::metrics(&[("PaymentMismatches", Measure::Count(1))]);
}
