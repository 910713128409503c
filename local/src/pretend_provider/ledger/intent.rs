//! Payment intents: a customer pays by a card, and the shop captures or cancels.

use serde_json::json;

use super::entry::{Entry, Status};
use super::refund::{EXPIRED, PARTIAL_CAPTURE, Refund};
use super::{Change, Changed, Form, Ledger, Refused, currency};

/// Stripe's test cards, by number and by the name of their payment method. A declined one has an error's code, and a
/// `decline_code`. <https://docs.stripe.com/testing>
pub(in super::super) const CARDS: [(&str, &str, Option<[&'static str; 2]>); 6] = [
    ("4242424242424242", "pm_card_visa", None),
    ("5555555555554444", "pm_card_mastercard", None),
    ("4000000000000341", "pm_card_chargeCustomerFail", Some(["card_declined", "generic_decline"])),
    ("4000000000000002", "pm_card_chargeDeclined", Some(["card_declined", "generic_decline"])),
    ("4000000000009995", "pm_card_chargeDeclinedInsufficientFunds", Some(["card_declined", "insufficient_funds"])),
    ("4000000000000069", "pm_card_chargeDeclinedExpiredCard", Some(["expired_card", "expired_card"])),
];

/// The payment method of a test card, and why it is declined.
fn card(named: Option<&str>) -> Result<(&'static str, Option<[&'static str; 2]>), Refused> {
    let wanted = named.map(|card| card.replace(' ', "")).unwrap_or_default();
    let card = CARDS.iter().find(|(number, method, _)| wanted == *number || wanted == *method);
    let only = "the pretend payment provider accepts Stripe's test cards alone, such as pm_card_visa";
    let (_, method, declined) = card.ok_or_else(|| Refused::malformed(only))?;
    Ok((method, *declined))
}

impl Ledger {
    pub(super) fn create(&mut self, form: &Form) -> Changed {
        let (amount, currency) = currency::charge(form)?;
        if form.get("capture_method").is_none_or(|method| method != "manual") {
            return Err(Refused::malformed("the pretend payment provider knows capture_method=manual alone"));
        }
        let id = self.new_id("pi");
        let entry = Entry::new(&id, amount, currency, form.get("metadata[orderId]"));
        let body = entry.show(form);
        self.intents.insert(id, entry);
        Ok(Change { status: 200, body, events: Vec::new() })
    }

    /// Names the payment method that the intent is to be confirmed with.
    pub(super) fn update(&mut self, id: &str, form: &Form) -> Changed {
        let (method, _) = card(form.get("payment_method").map(String::as_str))?;
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod])?;
        entry.payment_method = Some(method.to_owned());
        Ok(entry.changed(form, Vec::new()))
    }

    /// The customer pays with this card, or with the one in the form, or with the one that was named before.
    pub(super) fn confirm(&mut self, id: &str, named: Option<&str>, form: &Form) -> Changed {
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresPaymentMethod])?;
        let in_form = form.get("payment_method").or(form.get("payment_method_data[card][number]"));
        let (method, declined) = card(named.or(in_form.or(entry.payment_method.as_ref()).map(String::as_str)))?;
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

    /// Captures this amount of an authorized intent, or all of it. A refund releases the rest.
    pub(super) fn capture(&mut self, id: &str, amount: Option<i64>, form: &Form) -> Changed {
        let release = self.new_id("re");
        let entry = self.entry(id)?;
        entry.in_status(&[Status::RequiresCapture])?;
        let amount =
            amount.map(|amount| currency::checked(amount, &entry.currency)).transpose()?.unwrap_or(entry.amount);
        if amount > entry.amount {
            let message = format!(
                "The payment could not be captured because the requested capture amount is greater than \
                                   the amount you can capture ({}).",
                entry.amount
            );
            return Err(Refused::new(400, Some("amount_too_large"), message));
        }
        (entry.status, entry.captured) = (Status::Succeeded, amount);
        let mut events = vec![("payment_intent.succeeded", entry.told())];
        if amount < entry.amount {
            let release = Refund::new(release, entry, entry.amount - amount, Some(PARTIAL_CAPTURE));
            entry.refunds.push(release);
            events.push(("charge.refunded", entry.charge()));
        }
        Ok(entry.changed(form, events))
    }

    /// Ends an intent that is not captured, if it has one of these statuses. A refund releases what was reserved.
    pub(super) fn end(&mut self, id: &str, wanted: &[Status]) -> Changed {
        let release = self.new_id("re");
        let entry = self.entry(id)?;
        entry.in_status(wanted)?;
        entry.status = Status::Canceled;
        let mut events = vec![("payment_intent.canceled", entry.told())];
        if entry.is_charged {
            entry.refunds.push(Refund::new(release, entry, entry.amount, Some(EXPIRED)));
            events.push(("charge.refunded", entry.charge()));
        }
        Ok(entry.changed(&Form::new(), events))
    }
}
