//! One payment intent, and how the API shows it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Change, Dispute, Form, Refund, Refused, page};

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
    /// The part of `captured` that the charge shows as refunded.
    pub refunded: i64,
    /// The refunds, the oldest first, with those that released a part of the authorization.
    pub refunds: Vec<Refund>,
    /// The disputes and inquiries, the oldest first.
    pub disputes: Vec<Dispute>,
    /// The payment method that the next confirmation takes, unless it names one.
    pub(super) payment_method: Option<String>,
    /// Whether a card was charged: the intent is authorized, or was.
    pub is_charged: bool,
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
            refunds: Vec::new(),
            disputes: Vec::new(),
            payment_method: None,
            is_charged: false,
            created: Timestamp::now().as_second(),
        }
    }

    /// The money that the provider holds for the shop.
    pub fn held(&self) -> i64 {
        let refunds: i64 = self.refunds.iter().map(Refund::taken).sum();
        self.captured - refunds - self.disputes.iter().map(Dispute::taken).sum::<i64>()
    }

    /// Refuses unless the intent has one of these statuses. As at Stripe, the idempotency key keeps the refusal.
    pub(super) fn in_status(&self, wanted: &[Status]) -> Result<(), Refused> {
        if wanted.contains(&self.status) {
            return Ok(());
        }
        let message = format!("This PaymentIntent's status is {:?}, which does not allow that.", self.status);
        Err(Refused::new(400, Some("payment_intent_unexpected_state"), message))
    }

    pub(super) fn changed(&self, form: &Form, events: Vec<(&'static str, Value)>) -> Change {
        Change { status: 200, body: self.show(form), events }
    }

    /// The intent as an event tells it.
    pub(super) fn told(&self) -> Value {
        self.show(&Form::new())
    }

    /// The intent as the API shows it: with the charge's id, or with the charge and its refunds if the request expands them.
    pub(super) fn show(&self, form: &Form) -> Value {
        let is_expanded = |wanted: &str| {
            let mut fields = form.iter().filter(|(name, _)| name.starts_with("expand["));
            fields.any(|(_, fields)| fields.split(',').any(|field| field == wanted))
        };
        let has_refunds = is_expanded("latest_charge.refunds");
        let charge = || {
            if !has_refunds && !is_expanded("latest_charge") {
                return json!(self.charge_id());
            }
            let mut charge = self.charge();
            if has_refunds {
                let refunds = self.refunds.iter().rev().map(|refund| json!(refund)).collect();
                charge["refunds"] = page(refunds, &format!("/v1/charges/{}/refunds", self.charge_id()), 10);
            }
            charge
        };
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
        let released = self.refunds.iter().filter(|refund| refund.is_release()).map(|refund| refund.amount);
        let refunded = released.sum::<i64>() + self.refunded;
        json!({
            "id": self.charge_id(),
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.captured,
            "amount_refunded": refunded,
            "captured": self.status == Status::Succeeded,
            "currency": self.currency,
            "disputed": !self.disputes.is_empty(),
            "livemode": false,
            "metadata": { "orderId": self.order },
            "payment_intent": self.id,
            "refunded": refunded == self.amount,
            "status": "succeeded",
        })
    }
}
