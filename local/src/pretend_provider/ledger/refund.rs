//! Refunds, and how they end.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::entry::{Entry, Status};
use super::{Change, Changed, Form, Ledger, Refused, currency};

/// The reason of the refund with which a partial capture releases the rest.
pub(super) const PARTIAL_CAPTURE: &str = "partial_capture";

/// The reason of the refund with which a cancelled authorization releases everything.
pub(super) const EXPIRED: &str = "expired_uncaptured_charge";

/// The reasons that a request may give.
const REASONS: [&str; 3] = ["duplicate", "fraudulent", "requested_by_customer"];

/// A refund, with the fields that the API shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refund {
    pub id: String,
    object: String,
    /// In minor units.
    pub amount: i64,
    charge: String,
    /// In seconds since 1970.
    created: i64,
    currency: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    pub metadata: BTreeMap<String, String>,
    payment_intent: String,
    /// `None` if nobody gave one.
    pub reason: Option<String>,
    pub status: RefundStatus,
}

/// The status of a refund, as Stripe names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundStatus {
    /// The shop's balance has too little money.
    Pending,
    Succeeded,
    /// The money came back to the shop's balance.
    Failed,
    Canceled,
}

impl Refund {
    /// A refund of an intent that succeeded.
    pub(super) fn new(id: String, of: &Entry, amount: i64, reason: Option<&str>) -> Self {
        Self {
            id,
            object: "refund".to_owned(),
            amount,
            charge: of.charge_id(),
            created: Timestamp::now().as_second(),
            currency: of.currency.clone(),
            failure_reason: None,
            metadata: BTreeMap::new(),
            payment_intent: of.id.clone(),
            reason: reason.map(str::to_owned),
            status: RefundStatus::Succeeded,
        }
    }

    /// Whether it released a part of an authorization, and moved no money.
    pub fn is_release(&self) -> bool {
        self.reason.as_deref().is_some_and(|reason| [PARTIAL_CAPTURE, EXPIRED].contains(&reason))
    }

    /// The money that it took from the shop, or will take, in minor units.
    pub(super) fn taken(&self) -> i64 {
        let is_alive = matches!(self.status, RefundStatus::Pending | RefundStatus::Succeeded);
        if is_alive && !self.is_release() { self.amount } else { 0 }
    }
}

impl Ledger {
    /// Refunds this amount of a captured intent, or all that is left.
    pub(super) fn refund(&mut self, intent: &str, amount: Option<i64>, form: &Form) -> Changed {
        let reason = form.get("reason").map(String::as_str);
        if reason.is_some_and(|reason| !REASONS.contains(&reason)) {
            return Err(Refused::malformed(format!("reason must be one of {REASONS:?}")));
        }
        let (id, is_pending) = (self.new_id("re"), self.switches.balance_is_empty);
        let entry = self.entry(intent)?;
        let amount = amount.map(|amount| currency::checked(amount, &entry.currency)).transpose()?;
        entry.in_status(&[Status::Succeeded])?;
        if entry.disputes.iter().any(|dispute| !dispute.is_charge_refundable) {
            return Err(Refused::new(400, Some("charge_disputed"), "The charge has been charged back."));
        }
        let left = entry.captured - entry.refunded;
        if left == 0 {
            return Err(Refused::new(400, Some("charge_already_refunded"), "The charge has already been refunded."));
        }
        let amount = amount.unwrap_or(left);
        if amount > left {
            let message = format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({left}).");
            return Err(Refused::new(400, None, message));
        }
        let metadata = form.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("metadata[")?.strip_suffix(']')?;
            Some((name.to_owned(), value.clone()))
        });
        let status = if is_pending { RefundStatus::Pending } else { RefundStatus::Succeeded };
        let refund = Refund { metadata: metadata.collect(), status, ..Refund::new(id, entry, amount, reason) };
        let body = json!(refund);
        entry.refunded += amount;
        entry.refunds.push(refund);
        Ok(Change { status: 200, body, events: vec![("charge.refunded", entry.charge())] })
    }

    /// Ends a refund: one that is pending in any way, one that succeeded as failed.
    pub(super) fn end_refund(&mut self, id: &str, status: RefundStatus) -> Changed {
        let falls = self.switches.amount_refunded_falls;
        let found = self.intents.values_mut().find_map(|Entry { refunds, refunded, .. }| {
            Some((refunds.iter_mut().find(|refund| refund.id == id)?, refunded))
        });
        let (refund, refunded) = found.ok_or_else(|| Refused::missing("refund", id))?;
        match (refund.status, status) {
            (RefundStatus::Pending, _) | (RefundStatus::Succeeded, RefundStatus::Failed) if !refund.is_release() => {}
            (now, _) => return Err(Refused::new(400, None, format!("This refund is {now:?}."))),
        }
        refund.failure_reason = match status {
            RefundStatus::Failed => Some("expired_or_canceled_card".to_owned()),
            RefundStatus::Canceled => Some("merchant_request".to_owned()),
            RefundStatus::Pending | RefundStatus::Succeeded => None,
        };
        refund.status = status;
        if falls {
            *refunded -= refund.amount - refund.taken();
        }
        let body = json!(refund);
        Ok(Change { status: 200, events: vec![("charge.refund.updated", body.clone())], body })
    }

    pub(super) fn pay_pending_refunds(&mut self) -> Vec<(&'static str, serde_json::Value)> {
        let refunds = self.intents.values().flat_map(|entry| &entry.refunds);
        let pending = refunds.filter(|refund| refund.status == RefundStatus::Pending).map(|refund| refund.id.clone());
        let pending: Vec<_> = pending.collect();
        let paid = pending.iter().filter_map(|id| self.end_refund(id, RefundStatus::Succeeded).ok());
        paid.flat_map(|change| change.events).collect()
    }
}
