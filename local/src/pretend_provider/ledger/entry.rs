//! One payment intent, and how the API shows it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Change, Form, Refused};

/// A payment intent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    pub amount: i64,
    pub currency: String,
    /// The order in the metadata.
    pub order: Option<String>,
    pub status: Status,
    /// The reason why the last attempt to pay was declined.
    pub declined: Option<String>,
    pub captured: i64,
    pub refunded: i64,
    /// The payment method that the next confirmation takes, unless it names one.
    pub(super) payment_method: Option<String>,
    /// Whether a card was charged: the intent is authorized, or was.
    pub(super) is_charged: bool,
    /// The secret with which the customer's browser confirms the intent.
    pub client_secret: String,
    /// In seconds since 1970.
    created: i64,
}

/// The status of an intent, as Stripe names it. An intent that has a payment method, and is not confirmed yet, shows as
/// `requires_confirmation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    RequiresPaymentMethod,
    RequiresCapture,
    Succeeded,
    Canceled,
}

impl Entry {
    /// An intent that waits for the customer's card.
    pub(super) fn new(id: &str, amount: i64, currency: &str, order: Option<&String>) -> Self {
        Self {
            client_secret: format!("{id}_secret_{}", Uuid::new_v4().simple()),
            id: id.to_owned(),
            amount,
            currency: currency.to_owned(),
            order: order.cloned(),
            status: Status::RequiresPaymentMethod,
            declined: None,
            captured: 0,
            refunded: 0,
            payment_method: None,
            is_charged: false,
            created: Timestamp::now().as_second(),
        }
    }

    /// The money that the provider holds for the shop.
    pub fn held(&self) -> i64 {
        self.captured - self.refunded
    }

    /// Refuses unless the intent has one of these statuses. As at Stripe, the idempotency key keeps the refusal.
    pub(super) fn in_status(&self, wanted: &[Status]) -> Result<(), Refused> {
        if wanted.contains(&self.status) {
            return Ok(());
        }
        let message = format!("This PaymentIntent's status is {:?}, which does not allow that.", self.status);
        Err(Refused { is_kept: true, ..Refused::new(400, Some("payment_intent_unexpected_state"), message) })
    }

    /// Ends the intent, and releases what it reserved.
    pub(super) fn end(&mut self) -> Change {
        self.status = Status::Canceled;
        let mut events = vec![("payment_intent.canceled", self.told())];
        if self.is_charged {
            events.push(("charge.refunded", self.charge()));
        }
        self.changed(&Form::new(), events)
    }

    pub(super) fn changed(&self, form: &Form, events: Vec<(&'static str, Value)>) -> Change {
        Change { status: 200, body: self.show(form), events }
    }

    /// The intent as an event tells it.
    pub(super) fn told(&self) -> Value {
        self.show(&Form::new())
    }

    /// The intent as the API shows it: with the charge's id, or with the charge if the request expands it.
    pub(super) fn show(&self, form: &Form) -> Value {
        let is_expanded = form.get("expand[]").is_some_and(|field| field == "latest_charge");
        let charge = || if is_expanded { self.charge() } else { json!(self.charge_id()) };
        let is_open = self.status == Status::RequiresCapture;
        let waits_for_confirmation = self.status == Status::RequiresPaymentMethod && self.payment_method.is_some();
        let status = if waits_for_confirmation { json!("requires_confirmation") } else { json!(self.status) };
        json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_capturable": if is_open { self.amount } else { 0 },
            "amount_received": self.captured,
            "capture_method": "manual",
            "client_secret": self.client_secret,
            "created": self.created,
            "currency": self.currency,
            "last_payment_error": self.declined.as_ref().map(|reason| json!({ "type": "card_error", "decline_code": reason })),
            "latest_charge": self.is_charged.then(charge),
            "livemode": false,
            "metadata": { "orderId": self.order },
            "payment_method": self.payment_method,
            "status": status,
        })
    }

    pub(super) fn charge_id(&self) -> String {
        self.id.replace("pi_", "ch_")
    }

    /// The charge. What was reserved and not captured shows as refunded, as at Stripe.
    pub(super) fn charge(&self) -> Value {
        let released = match self.status {
            Status::Succeeded => self.amount - self.captured,
            Status::Canceled => self.amount,
            _ => 0,
        };
        let refunded = released + self.refunded;
        json!({
            "id": self.charge_id(),
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.captured,
            "amount_refunded": refunded,
            "captured": self.status == Status::Succeeded,
            "currency": self.currency,
            "livemode": false,
            "metadata": { "orderId": self.order },
            "payment_intent": self.id,
            "refunded": refunded == self.amount,
            "status": "succeeded",
        })
    }
}
