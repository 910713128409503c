//! The objects of Stripe's API, as far as Till reads them.

use key_schema::entity::{self, Held, Progress};
use key_schema::value::{IntentId, Money, OrderId};
use serde::Deserialize;
use serde_json::Value;

use super::amount::from_stripe;
use super::signature::NotGenuine;
use crate::{Error, Intent, Notice};

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
    Charge(Charge),
    Id(serde::de::IgnoredAny),
}

/// An attempt to charge a card.
#[derive(Debug, Deserialize)]
struct Charge {
    #[serde(default)]
    disputed: bool,
    status: Option<String>,
    refunds: Option<Listed<Refund>>,
}

/// What Till writes on an intent and on its refunds. Other programs may write anything there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Value")]
struct Metadata {
    order_id: Option<OrderId>,
    /// The number of a refund. Absent from a refund that somebody made in the dashboard.
    refund: Option<u32>,
}

impl From<Value> for Metadata {
    fn from(value: Value) -> Self {
        let text = |name| value[name].as_str();
        Self {
            order_id: text("orderId").and_then(|id| id.parse().ok()),
            refund: text("refund").and_then(|number| number.parse().ok()).filter(|number| *number <= MOST_REFUNDS),
        }
    }
}

/// The highest number of a refund that is taken for Till's own.
const MOST_REFUNDS: u32 = 1_000_000;

/// A page of a list.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Listed<T> {
    pub(super) data: Vec<WithId<T>>,
    pub(super) has_more: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct WithId<T> {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) object: T,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Refund {
    amount: i64,
    status: Option<String>,
    reason: Option<String>,
    /// The movement of the money.
    balance_transaction: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Dispute {
    amount: i64,
    status: String,
}

/// An event that Stripe sends.
#[derive(Deserialize)]
pub(super) struct Event {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Value,
}

/// The object of an event, as far as it matters.
#[derive(Deserialize)]
struct Told {
    /// Of an object other than an intent, any text.
    #[serde(default, deserialize_with = "id")]
    id: Option<IntentId>,
    payment_intent: Option<IntentId>,
    #[serde(default)]
    metadata: Metadata,
}

fn id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<IntentId>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.and_then(|text| text.parse().ok()))
}

impl PaymentIntent {
    /// The refunds, if the intent has all of them. They are not asked for before the intent is captured.
    pub(super) fn refunds(&self) -> Option<Vec<Refund>> {
        match &self.latest_charge {
            _ if self.status != "succeeded" => Some(Vec::new()),
            Some(LatestCharge::Charge(Charge { refunds: Some(Listed { data, has_more: false }), .. })) => {
                Some(data.iter().map(|refund| refund.object.clone()).collect())
            }
            _ => None,
        }
    }

    /// Whether the newest attempt to charge the card succeeded, so that the amount was reserved.
    fn was_authorized(&self) -> bool {
        matches!(&self.latest_charge, Some(LatestCharge::Charge(charge)) if charge.status.as_deref() == Some("succeeded"))
    }

    pub(super) fn is_disputed(&self) -> bool {
        matches!(&self.latest_charge, Some(LatestCharge::Charge(Charge { disputed: true, .. })))
    }

    /// The intent in Till's terms, with these refunds and disputes.
    pub(super) fn read(self, refunds: &[Refund], disputes: &[Dispute]) -> Result<Intent, Error> {
        let unreadable = || Error::Unreadable("an amount".to_owned());
        let money = |amount| from_stripe(amount, &self.currency).ok_or_else(unreadable);
        let sum = |amounts: Vec<i64>| {
            let sum = amounts.into_iter().try_fold(0_i64, i64::checked_add).ok_or_else(unreadable)?;
            money(sum).map(Money::amount)
        };
        let progress = match self.status.as_str() {
            "succeeded" => Progress::Captured,
            "canceled" if self.was_authorized() => Progress::Released,
            "canceled" => Progress::Ended,
            "requires_capture" => Progress::Authorized,
            "requires_payment_method" if self.last_payment_error.is_some() => Progress::Declined,
            _ => Progress::Started,
        };
        let captured = match progress {
            Progress::Captured => self.amount_received.filter(|amount| *amount > 0).unwrap_or(self.amount),
            _ => 0,
        };
        // One refund at most is the release of the rest. If none says so, it is told by its amount.
        let is_told = refunds.iter().any(|refund| refund.is_release(0));
        let guessed = if is_told { 0 } else { self.amount.saturating_sub(captured) };
        let of = |wanted: fn(&Refund) -> bool| {
            refunds.iter().filter(move |refund| !refund.is_release(guessed) && wanted(refund)).map(|it| it.amount)
        };
        let held = Held {
            progress,
            captured: sum(vec![captured])?,
            refunded: sum(of(|refund| !refund.has_failed()).collect())?,
            failed: sum(of(|refund| refund.number().is_some() && refund.has_failed()).collect())?,
            disputed: sum(disputes.iter().filter(|it| it.takes_money()).map(|it| it.amount).collect())?,
            dispute: Dispute::state(disputes),
        };
        let newest_refund = refunds.iter().filter_map(Refund::number).max().unwrap_or_default();
        let amount = money(self.amount)?;
        let (client_secret, order) = (self.client_secret, self.metadata.order_id);
        Ok(Intent { id: self.id, amount, client_secret, order, held, newest_refund })
    }
}

impl Refund {
    /// Whether no money goes back to the customer: the release of what was never captured, of this amount, is a refund at
    /// Stripe, too. Stripe does not document its reason.
    fn is_release(&self, rest: i64) -> bool {
        // A refund that is pending moves money only later.
        let is_done = self.status.as_deref() == Some("succeeded") && self.number().is_none();
        let is_rest = is_done && self.balance_transaction.is_none() && rest > 0 && self.amount == rest;
        is_rest || matches!(self.reason.as_deref(), Some("partial_capture" | "expired_uncaptured_charge"))
    }

    fn has_failed(&self) -> bool {
        matches!(self.status.as_deref(), Some("failed" | "canceled"))
    }

    /// The number of a refund that Till made.
    fn number(&self) -> Option<u32> {
        self.metadata.refund
    }
}

impl Dispute {
    fn is_open(&self) -> bool {
        matches!(
            self.status.as_str(),
            "needs_response" | "under_review" | "warning_needs_response" | "warning_under_review"
        )
    }

    /// An inquiry takes no money, and neither does a dispute that the shop has won or that was prevented.
    fn takes_money(&self) -> bool {
        matches!(self.status.as_str(), "needs_response" | "under_review" | "lost")
    }

    fn state(disputes: &[Self]) -> Option<entity::Dispute> {
        match disputes {
            [] => None,
            _ if disputes.iter().any(Self::is_open) => Some(entity::Dispute::Open),
            _ if disputes.iter().any(Self::takes_money) => Some(entity::Dispute::Lost),
            _ => Some(entity::Dispute::Won),
        }
    }
}

/// Reads the body of a message: an event.
pub(super) fn notice(body: &[u8]) -> Result<Option<Notice>, NotGenuine> {
    serde_json::from_slice::<Event>(body).map_err(|_| NotGenuine::Unreadable)?.notice()
}

impl Event {
    /// What the event tells. `None` if it is not about a payment: a payment intent, or a charge, a refund or a dispute of
    /// one.
    pub(super) fn notice(self) -> Result<Option<Notice>, NotGenuine> {
        let object = self.data.object;
        let kind = object["object"].as_str().unwrap_or_default().to_owned();
        if !matches!(kind.as_str(), "payment_intent" | "charge" | "refund" | "dispute") {
            return Ok(None);
        }
        let told: Told = serde_json::from_value(object).map_err(|_| NotGenuine::Unreadable)?;
        let intent = match kind.as_str() {
            "payment_intent" => Some(told.id.ok_or(NotGenuine::Unreadable)?),
            _ => told.payment_intent,
        };
        Ok(intent.map(|intent| Notice { order: told.metadata.order_id, intent }))
    }
}

/// The error in an answer with this status.
pub(super) fn refusal(status: u16, body: &[u8]) -> Error {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |name: &str| answer["error"][name].as_str().unwrap_or_default().to_owned();
    let (code, message) = (text("code"), text("message"));
    match status {
        // 409: another request with this key is being carried out. 429: too many requests. Stripe keeps neither.
        409 | 429 => Error::Busy(status),
        // A proxy's answer, and not the provider's.
        _ if !answer["error"].is_object() => Error::Failed { status, message: "no error of the provider's".to_owned() },
        401 | 403 => Error::Unauthorized(message),
        // Also a time-out, or a failure of something that Stripe depends on.
        408 | 424 | 425 | 500.. => Error::Failed { status, message },
        _ if code == "amount_too_small" => Error::TooSmall(message),
        // The account has no money for a refund at this moment, or its key was used for another request.
        _ if code == "balance_insufficient" || text("type") == "idempotency_error" => Error::Failed { status, message },
        _ => Error::Refused { status, code, message },
    }
}
