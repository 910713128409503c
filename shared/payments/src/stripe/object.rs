//! The objects of Stripe's API, as far as Till reads them.

use key_schema::entity::{Progress, Report};
use key_schema::value::{Currency, IntentId, Money, OrderId};
use serde::Deserialize;
use serde_json::Value;

use super::signature::NotGenuine;
use crate::{Error, FailedRefund, Intent, Notice, PaymentReport};

#[cfg(test)]
mod tests;

/// A payment intent.
#[derive(Debug, Deserialize)]
pub(super) struct PaymentIntent {
    id: IntentId,
    amount: i64,
    currency: String,
    status: String,
    client_secret: Option<String>,
    /// Absent from `localstripe`.
    amount_received: Option<i64>,
    latest_charge: Option<LatestCharge>,
    last_payment_error: Option<Value>,
    #[serde(default)]
    metadata: Metadata,
}

/// An intent's newest charge: the object if the request asked for it, its id otherwise.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum LatestCharge {
    Charge(Box<Charge>),
    Id(serde::de::IgnoredAny),
}

/// An attempt to charge a card.
#[derive(Debug, Deserialize)]
pub(super) struct Charge {
    amount: i64,
    currency: String,
    status: String,
    captured: bool,
    amount_captured: Option<i64>,
    /// The amount that went back, and with a capture of less than the whole amount also what was not captured.
    amount_refunded: i64,
    payment_intent: Option<IntentId>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(rename = "orderId")]
    order_id: Option<OrderId>,
}

/// The answer to a refund. Its content does not matter, because the charge has the sum of all refunds.
#[derive(Debug, Deserialize)]
pub(super) struct Refund {}

/// A refund in an event.
#[derive(Debug, Deserialize)]
struct ToldRefund {
    id: String,
    amount: i64,
    currency: String,
    status: String,
    payment_intent: Option<IntentId>,
    #[serde(default)]
    metadata: Metadata,
}

/// An event that Stripe sends.
#[derive(Deserialize)]
struct Event {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Value,
}

impl PaymentIntent {
    /// The intent in Till's terms.
    pub(super) fn read(self) -> Result<Intent, Error> {
        let amount = money(self.amount, &self.currency).ok_or_else(|| Error::Unreadable("amount".to_owned()))?;
        let report = self.report();
        Ok(Intent { id: self.id, amount, client_secret: self.client_secret, order: self.metadata.order_id, report })
    }

    fn report(&self) -> Report {
        let progress = match self.status.as_str() {
            "succeeded" => Progress::Captured,
            "canceled" => Progress::Ended,
            "requires_capture" => Progress::Authorized,
            "requires_payment_method" if self.last_payment_error.is_some() => Progress::Declined,
            _ => Progress::Started,
        };
        if progress != Progress::Captured {
            return Report { progress, captured: 0, refunded: 0 };
        }
        let captured = self.amount_received.filter(|amount| *amount > 0).unwrap_or(self.amount);
        let refunded = match &self.latest_charge {
            Some(LatestCharge::Charge(charge)) => charge.refunded(captured),
            _ => 0,
        };
        Report { progress, captured, refunded }
    }
}

impl Charge {
    /// The amount of `captured` that was refunded.
    fn refunded(&self, captured: i64) -> i64 {
        (captured - (self.amount - self.amount_refunded)).max(0)
    }

    fn report(&self) -> Report {
        if self.status == "failed" {
            return Report { progress: Progress::Declined, captured: 0, refunded: 0 };
        }
        if !self.captured {
            // A reservation that was released counts as refunded; the intent says why it ended.
            return Report { progress: Progress::Authorized, captured: 0, refunded: 0 };
        }
        let captured = self.amount_captured.filter(|amount| *amount > 0).unwrap_or(self.amount);
        Report { progress: Progress::Captured, captured, refunded: self.refunded(captured) }
    }
}

impl ToldRefund {
    /// The notice of a refund that failed: its money came back to the shop's account. The type of the event does not
    /// matter: it is `charge.refund.updated`, or `refund.failed` since version 2024-10-28.
    fn notice(self) -> Result<Option<Notice>, NotGenuine> {
        let Some(intent) = self.payment_intent.filter(|_| matches!(self.status.as_str(), "failed" | "canceled")) else {
            return Ok(None);
        };
        let amount = money(self.amount, &self.currency).ok_or(NotGenuine::Unreadable)?;
        let (order, refund) = (self.metadata.order_id, self.id);
        Ok(Some(Notice::RefundFailed(FailedRefund { order, intent, refund, amount })))
    }
}

/// Reads an event. `None` if it is about something other than a payment of an order, or a refund that failed.
pub(super) fn notice(body: &[u8]) -> Result<Option<Notice>, NotGenuine> {
    let event: Event = serde_json::from_slice(body).map_err(|_| NotGenuine::Unreadable)?;
    let object = event.data.object;
    let kind = object["object"].as_str().unwrap_or_default().to_owned();
    let (order, intent, amount, currency, report) = match kind.as_str() {
        "payment_intent" => {
            let intent: PaymentIntent = serde_json::from_value(object).map_err(|_| NotGenuine::Unreadable)?;
            let report = intent.report();
            (intent.metadata.order_id, Some(intent.id), intent.amount, intent.currency, report)
        }
        "charge" => {
            let charge: Charge = serde_json::from_value(object).map_err(|_| NotGenuine::Unreadable)?;
            let report = charge.report();
            (charge.metadata.order_id, charge.payment_intent, charge.amount, charge.currency, report)
        }
        "refund" => {
            let refund: ToldRefund = serde_json::from_value(object).map_err(|_| NotGenuine::Unreadable)?;
            return refund.notice();
        }
        _ => return Ok(None),
    };
    let (Some(order), Some(intent)) = (order, intent) else { return Ok(None) };
    let amount = money(amount, &currency).ok_or(NotGenuine::Unreadable)?;
    Ok(Some(Notice::Payment(PaymentReport { order, intent, amount, report })))
}

/// Stripe spells currencies in lower case.
fn money(amount: i64, currency: &str) -> Option<Money> {
    let currency = Currency::try_from(currency.to_ascii_uppercase()).ok()?;
    Money::new(amount, currency)
}

/// The error in an answer with this status.
pub(super) fn refusal(status: u16, body: &[u8]) -> Error {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = answer["error"]["message"].as_str().unwrap_or("no message").to_owned();
    if answer["error"]["code"] == "amount_too_small" {
        Error::TooSmall(message)
    } else {
        Error::Refused { status, message }
    }
}
