//! The provider's books: payment intents, what happened to each, the answers given, and the events not yet taken.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

mod entry;

pub use entry::{Entry, Status};

/// The fields of a request.
pub(super) type Form = BTreeMap<String, String>;

/// Everything that the provider has recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    /// The intents by id. Their ids sort by time of creation.
    pub intents: BTreeMap<String, Entry>,
    /// The first answer for each idempotency key.
    answers: BTreeMap<String, Kept>,
    /// The events that the API has not taken yet, by id.
    unsent: BTreeMap<String, Value>,
    last_id: u64,
    /// A random part of each id, so that ids differ from those of a stack that was started before.
    account: String,
}

/// An answer that is given again to the same request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    /// In seconds since 1970.
    pub(super) at: i64,
    /// A fingerprint of the request.
    pub(super) request: String,
    pub(super) status: u16,
    pub(super) body: Value,
}

/// The time for which an answer is kept, in seconds. Stripe keeps it for at least 24 hours.
pub(super) const KEPT_SECONDS: i64 = 24 * 60 * 60;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) message: String,
    /// Whether the same idempotency key gets the same refusal again. As at Stripe, this is so unless the request itself is
    /// malformed.
    pub(super) is_kept: bool,
}

/// An answer, and the events that tell of the change: for each its type and its object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) events: Vec<(&'static str, Value)>,
}

pub(super) type Changed = Result<Change, Refused>;

/// Stripe's test cards, by number and by the name of their payment method. A declined one has an error's code, and a
/// `decline_code`. <https://docs.stripe.com/testing>
const CARDS: [(&str, &str, Option<[&'static str; 2]>); 6] = [
    ("4242424242424242", "pm_card_visa", None),
    ("5555555555554444", "pm_card_mastercard", None),
    ("4000000000000341", "pm_card_chargeCustomerFail", Some(["card_declined", "generic_decline"])),
    ("4000000000000002", "pm_card_chargeDeclined", Some(["card_declined", "generic_decline"])),
    ("4000000000009995", "pm_card_chargeDeclinedInsufficientFunds", Some(["card_declined", "insufficient_funds"])),
    ("4000000000000069", "pm_card_chargeDeclinedExpiredCard", Some(["expired_card", "expired_card"])),
];

/// The least amounts that Stripe charges a card with, in minor units, of the currencies whose least amount is not
/// [`LEAST`]. <https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>
const LEAST_OF: [(&str, i64); 4] = [("dkk", 250), ("gbp", 30), ("nok", 300), ("sek", 300)];

/// The least amount of the other currencies, such as EUR, USD, CHF and JPY.
const LEAST: i64 = 50;

/// The payment method of a test card, and why it is declined.
fn card(named: Option<&String>) -> Result<(&'static str, Option<[&'static str; 2]>), Refused> {
    let wanted = named.map(|card| card.replace(' ', "")).unwrap_or_default();
    let card = CARDS.iter().find(|(number, method, _)| wanted == *number || wanted == *method);
    let only = "the pretend payment provider accepts Stripe's test cards alone, such as pm_card_visa";
    let (_, method, declined) = card.ok_or_else(|| Refused::malformed(only))?;
    Ok((method, *declined))
}

impl Default for Ledger {
    fn default() -> Self {
        let mut account = Uuid::new_v4().simple().to_string();
        account.truncate(8);
        Self { intents: BTreeMap::new(), answers: BTreeMap::new(), unsent: BTreeMap::new(), last_id: 0, account }
    }
}

impl Ledger {
    /// Reads a file, which need not exist.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let name = file.display();
        match std::fs::read(file) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("cannot read {name}")),
            // If the directory is none, the stack says so.
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                Ok(Self::default())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {name}")),
        }
    }

    /// Replaces the file. A crash leaves the old file or the new one.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(self)?).with_context(|| format!("cannot write {}", new.display()))?;
        std::fs::rename(&new, file).with_context(|| format!("cannot replace {}", file.display()))
    }

    /// The intents of an order, oldest first.
    pub fn of_order<'a>(&'a self, order: &'a str) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.intents.values().filter(move |entry| entry.order.as_deref() == Some(order))
    }

    /// The events that the API has not taken yet.
    pub fn unsent(&self) -> impl Iterator<Item = &Value> {
        self.unsent.values()
    }

    /// Makes events that are to be sent.
    pub(super) fn tell(&mut self, events: Vec<(&'static str, Value)>, key: Option<&str>) -> Vec<Value> {
        let events = events.into_iter().map(|(kind, object)| {
            json!({
                "id": format!("evt_pretend_{}", Uuid::new_v4().simple()),
                "object": "event",
                "created": Timestamp::now().as_second(),
                "livemode": false,
                "type": kind,
                "request": { "idempotency_key": key },
                "data": { "object": object },
            })
        });
        let events: Vec<_> = events.collect();
        for event in &events {
            self.unsent.insert(event["id"].as_str().unwrap_or_default().to_owned(), event.clone());
        }
        events
    }

    pub(super) fn forget_event(&mut self, event: &Value) {
        self.unsent.remove(event["id"].as_str().unwrap_or_default());
    }

    /// A fingerprint of a request. The request itself is not kept: it may have a card's number.
    pub(super) fn fingerprint(path: &str, form: &Form) -> String {
        Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{path} {form:?}").as_bytes()).to_string()
    }

    /// The answer that this idempotency key was given before.
    pub(super) fn answer_of(&self, key: &str, now: i64) -> Option<&Kept> {
        self.answers.get(key).filter(|kept| now - kept.at < KEPT_SECONDS)
    }

    pub(super) fn keep_answer(&mut self, key: &str, answer: Kept) {
        self.answers.retain(|_, kept| answer.at - kept.at < KEPT_SECONDS);
        self.answers.insert(key.to_owned(), answer);
    }

    /// Creates an intent.
    pub(super) fn create(&mut self, form: &Form) -> Changed {
        let amount = form.get("amount").and_then(|amount| amount.parse().ok()).filter(|amount| *amount > 0);
        let amount = amount.ok_or_else(|| Refused::malformed("amount must be a positive integer"))?;
        let currency = form.get("currency").filter(|currency| currency.len() == 3);
        let currency = currency.ok_or_else(|| Refused::malformed("currency must be a currency's three letters"))?;
        let least = LEAST_OF.iter().find(|(name, _)| name == currency).map_or(LEAST, |(_, least)| *least);
        if amount < least {
            let message = format!("The amount must be at least {least} of the minor unit of {currency}.");
            return Err(Refused::new(400, Some("amount_too_small"), message));
        }
        if form.get("capture_method").is_none_or(|method| method != "manual") {
            return Err(Refused::malformed("the pretend payment provider knows capture_method=manual alone"));
        }
        self.last_id += 1;
        // As long as Stripe's ids, so that items have the same sizes.
        let id = format!("pi_pretend_{}{:08}", self.account, self.last_id);
        let entry = Entry::new(&id, amount, currency, form.get("metadata[orderId]"));
        let body = entry.show(form);
        self.intents.insert(id, entry);
        Ok(Change { status: 200, body, events: Vec::new() })
    }

    /// Names the payment method that the intent is to be confirmed with.
    pub(super) fn update(&mut self, id: &str, form: &Form) -> Changed {
        let (method, _) = card(form.get("payment_method"))?;
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod])?;
        entry.payment_method = Some(method.to_owned());
        Ok(entry.changed(form, Vec::new()))
    }

    /// The customer pays with a card.
    pub(super) fn confirm(&mut self, id: &str, form: &Form) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod])?;
        let named = form.get("payment_method").or(form.get("payment_method_data[card][number]"));
        let (method, declined) = card(named.or(entry.payment_method.as_ref()))?;
        entry.declined = declined.map(|[_, reason]| reason.to_owned());
        entry.payment_method = declined.is_none().then(|| method.to_owned());
        if let Some([code, reason]) = declined {
            let body = json!({ "error": {
                "type": "card_error", "code": code, "decline_code": reason, "message": "Your card was declined.",
                "payment_intent": entry.show(form),
            } });
            return Ok(Change { status: 402, body, events: vec![("payment_intent.payment_failed", entry.told())] });
        }
        (entry.status, entry.is_charged) = (Status::RequiresCapture, true);
        Ok(entry.changed(form, vec![("payment_intent.amount_capturable_updated", entry.told())]))
    }

    /// Captures an authorized intent, as a whole or in part.
    pub(super) fn capture(&mut self, id: &str, form: &Form) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresCapture])?;
        let amount = match form.get("amount_to_capture") {
            None => entry.amount,
            Some(amount) => {
                amount.parse().ok().filter(|amount| (1..=entry.amount).contains(amount)).ok_or_else(|| {
                    Refused::malformed("amount_to_capture must be at least 1, and at most the intent's amount")
                })?
            }
        };
        (entry.status, entry.captured) = (Status::Succeeded, amount);
        let mut events = vec![("payment_intent.succeeded", entry.told())];
        if amount < entry.amount {
            events.push(("charge.refunded", entry.charge()));
        }
        Ok(entry.changed(form, events))
    }

    /// Ends an intent that is not captured.
    pub(super) fn cancel(&mut self, id: &str) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod, Status::RequiresCapture])?;
        Ok(entry.end())
    }

    /// Ends an authorization that was not captured in time.
    pub(super) fn lapse(&mut self, id: &str) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresCapture])?;
        Ok(entry.end())
    }

    /// Refunds a captured intent, as a whole or in part.
    pub(super) fn refund(&mut self, form: &Form) -> Changed {
        let id = form.get("payment_intent").ok_or_else(|| Refused::malformed("payment_intent is missing"))?;
        let refund = format!("re_pretend_{}{:06}", self.account, self.last_id + 1);
        let entry = self.entry(id)?;
        entry.in_status(&[Status::Succeeded])?;
        let left = entry.captured - entry.refunded;
        if left == 0 {
            let message = "The charge has already been refunded.".to_owned();
            return Err(Refused { is_kept: true, ..Refused::new(400, Some("charge_already_refunded"), message) });
        }
        let amount = form.get("amount").map_or(Some(left), |amount| amount.parse().ok()).filter(|amount| *amount > 0);
        let amount: i64 = amount.ok_or_else(|| Refused::malformed("amount must be a positive integer"))?;
        if amount > left {
            let message = format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({left}).");
            return Err(Refused { is_kept: true, ..Refused::new(400, None, message) });
        }
        entry.refunded += amount;
        let body = json!({
            "id": refund, "object": "refund", "amount": amount, "currency": entry.currency, "payment_intent": id,
            "charge": entry.charge_id(), "status": "succeeded",
        });
        let events = vec![("charge.refunded", entry.charge())];
        self.last_id += 1;
        Ok(Change { status: 200, body, events })
    }

    /// The intent as the API shows it.
    pub(super) fn look_at(&mut self, id: &str, form: &Form) -> Changed {
        Ok(Change { status: 200, body: self.entry(id)?.show(form), events: Vec::new() })
    }

    fn entry(&mut self, id: &str) -> Result<&mut Entry, Refused> {
        let missing = || Refused::new(404, Some("resource_missing"), format!("No such payment_intent: '{id}'"));
        self.intents.get_mut(id).ok_or_else(missing)
    }
}

impl Refused {
    /// A refusal that no idempotency key keeps.
    pub(super) fn new(status: u16, code: Option<&'static str>, message: String) -> Self {
        Self { status, kind: "invalid_request_error", code, message, is_kept: false }
    }

    fn malformed(message: &str) -> Self {
        Self::new(400, Some("parameter_invalid"), message.to_owned())
    }
}
