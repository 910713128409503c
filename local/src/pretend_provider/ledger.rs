//! The provider's books: payment intents, and what happened to each.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Everything that the provider has recorded.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    pub intents: BTreeMap<String, Entry>,
    /// The first answer for each idempotency key, with the request that it answered.
    pub(super) answers: BTreeMap<String, Kept>,
    last_id: u64,
}

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
    /// The secret with which the customer's browser confirms the intent.
    pub client_secret: String,
}

/// The status of an intent, as Stripe names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    RequiresPaymentMethod,
    RequiresCapture,
    Succeeded,
    Canceled,
}

/// An answer that is given again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) request: String,
    pub(super) status: u16,
    pub(super) body: Value,
}

/// A refusal: status, code and message.
pub(super) type Refused = (u16, &'static str, String);

/// An answer's body, and the event that tells of the change.
pub(super) type Changed = Result<(Value, Option<(&'static str, Value)>), Refused>;

/// Stripe's test cards, by number and by the name of their payment method, and why each is declined.
/// <https://docs.stripe.com/testing>
const CARDS: [(&str, &str, Option<&str>); 5] = [
    ("4242424242424242", "pm_card_visa", None),
    ("5555555555554444", "pm_card_mastercard", None),
    ("4000000000000002", "pm_card_chargeDeclined", Some("generic_decline")),
    ("4000000000009995", "pm_card_chargeDeclinedInsufficientFunds", Some("insufficient_funds")),
    ("4000000000000069", "pm_card_chargeDeclinedExpiredCard", Some("expired_card")),
];

impl Ledger {
    /// Reads a file, which need not exist.
    pub(super) fn read(file: &Path) -> Result<Self> {
        match std::fs::read(file) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("cannot read {}", file.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    /// Creates an intent.
    pub(super) fn create(&mut self, form: &BTreeMap<String, String>, secret: String) -> Changed {
        let amount = form.get("amount").and_then(|amount| amount.parse().ok()).filter(|amount| *amount > 0);
        let amount = amount.ok_or_else(|| invalid("amount must be a positive integer"))?;
        let currency = form.get("currency").filter(|currency| currency.len() == 3);
        let currency = currency.ok_or_else(|| invalid("currency must be a currency's three letters"))?.clone();
        if form.get("capture_method").is_none_or(|method| method != "manual") {
            return Err(invalid("the pretend provider knows capture_method=manual alone"));
        }
        self.last_id += 1;
        let id = format!("pi_pretend_{}", self.last_id);
        let entry = Entry {
            client_secret: format!("{id}_secret_{secret}"),
            id: id.clone(),
            amount,
            currency,
            order: form.get("metadata[orderId]").cloned(),
            status: Status::RequiresPaymentMethod,
            declined: None,
            captured: 0,
            refunded: 0,
        };
        let body = entry.show();
        self.intents.insert(id, entry);
        Ok((body, None))
    }

    /// The customer pays with a card.
    pub(super) fn confirm(&mut self, id: &str, form: &BTreeMap<String, String>) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod])?;
        let named = form.get("payment_method").or(form.get("payment_method_data[card][number]"));
        let wanted = named.map(|card| card.replace(' ', "")).unwrap_or_default();
        let card = CARDS.iter().find(|(number, method, _)| wanted == *number || wanted == *method);
        let Some((.., declined)) = card else {
            return Err(invalid("the pretend provider accepts Stripe's test cards alone, such as pm_card_visa"));
        };
        entry.declined = declined.map(str::to_owned);
        if let Some(reason) = declined {
            let told = entry.show();
            return Ok((
                json!({ "error": { "type": "card_error", "code": "card_declined", "decline_code": reason,
                    "message": "Your card was declined.", "payment_intent": told.clone() } }),
                Some(("payment_intent.payment_failed", told)),
            ));
        }
        entry.status = Status::RequiresCapture;
        Ok(entry.tell("payment_intent.amount_capturable_updated"))
    }

    /// Captures an authorized intent, as a whole or in part.
    pub(super) fn capture(&mut self, id: &str, form: &BTreeMap<String, String>) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresCapture])?;
        let amount = match form.get("amount_to_capture") {
            None => entry.amount,
            Some(amount) => amount
                .parse()
                .ok()
                .filter(|amount| (1..=entry.amount).contains(amount))
                .ok_or_else(|| invalid("amount_to_capture must be positive, and at most the intent's amount"))?,
        };
        (entry.status, entry.captured) = (Status::Succeeded, amount);
        Ok(entry.tell("payment_intent.succeeded"))
    }

    /// Ends an intent that is not captured.
    pub(super) fn cancel(&mut self, id: &str) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod, Status::RequiresCapture])?;
        entry.status = Status::Canceled;
        Ok(entry.tell("payment_intent.canceled"))
    }

    /// Refunds a captured intent, as a whole or in part.
    pub(super) fn refund(&mut self, form: &BTreeMap<String, String>) -> Changed {
        let id = form.get("payment_intent").ok_or_else(|| invalid("payment_intent is missing"))?.clone();
        self.last_id += 1;
        let refund = format!("re_pretend_{}", self.last_id);
        let entry = self.entry(&id)?;
        entry.in_status(&[Status::Succeeded])?;
        let left = entry.captured - entry.refunded;
        let amount = form.get("amount").map_or(Some(left), |amount| amount.parse().ok());
        let amount = amount.filter(|amount| (1..=left).contains(amount));
        let amount = amount.ok_or_else(|| invalid("amount must be positive, and at most what is not refunded yet"))?;
        entry.refunded += amount;
        let body = json!({
            "id": refund, "object": "refund", "amount": amount, "currency": entry.currency, "payment_intent": id,
            "status": "succeeded",
        });
        Ok((body, Some(("charge.refunded", entry.charge()))))
    }

    /// The intent as the API shows it.
    pub(super) fn look_at(&mut self, id: &str) -> Changed {
        Ok((self.entry(id)?.show(), None))
    }

    fn entry(&mut self, id: &str) -> Result<&mut Entry, Refused> {
        let missing = || (404, "resource_missing", format!("No such payment_intent: '{id}'"));
        self.intents.get_mut(id).ok_or_else(missing)
    }
}

impl Entry {
    fn in_status(&self, wanted: &[Status]) -> Result<(), Refused> {
        if wanted.contains(&self.status) {
            return Ok(());
        }
        let message = format!("This PaymentIntent's status is {:?}, which does not allow that.", self.status);
        Err((400, "payment_intent_unexpected_state", message))
    }

    fn tell(&self, event: &'static str) -> (Value, Option<(&'static str, Value)>) {
        (self.show(), Some((event, self.show())))
    }

    fn show(&self) -> Value {
        let has_charge = matches!(self.status, Status::RequiresCapture | Status::Succeeded);
        json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_received": self.captured,
            "currency": self.currency,
            "status": self.status,
            "client_secret": self.client_secret,
            "capture_method": "manual",
            "last_payment_error": self.declined.as_ref().map(|code| json!({ "code": "card_declined", "decline_code": code })),
            "latest_charge": has_charge.then(|| self.charge()),
            "metadata": { "orderId": self.order },
        })
    }

    /// What was not captured shows as refunded, as at Stripe.
    fn charge(&self) -> Value {
        let is_captured = self.status == Status::Succeeded;
        let released = if is_captured { self.amount - self.captured } else { 0 };
        json!({
            "id": self.id.replace("pi_", "ch_"),
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.captured,
            "amount_refunded": released + self.refunded,
            "captured": is_captured,
            "currency": self.currency,
            "status": "succeeded",
            "payment_intent": self.id,
            "metadata": { "orderId": self.order },
        })
    }
}

fn invalid(message: &str) -> Refused {
    (400, "parameter_invalid", message.to_owned())
}
