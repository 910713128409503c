//! Disputes: a cardholder demands the money back from the bank.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::entry::Status;
use super::{Change, Changed, Ledger, Refused};

/// A dispute, with the fields that the API shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dispute {
    pub id: String,
    object: String,
    /// In minor units.
    pub amount: i64,
    charge: String,
    currency: String,
    /// Whether the shop may still refund the charge. It may during an inquiry.
    pub is_charge_refundable: bool,
    metadata: BTreeMap<String, String>,
    payment_intent: String,
    reason: String,
    pub status: DisputeStatus,
}

/// The status of a dispute, as Stripe names it. Those that begin with `Warning` are of an inquiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisputeStatus {
    WarningNeedsResponse,
    WarningClosed,
    NeedsResponse,
    Won,
    Lost,
}

impl Dispute {
    /// The money that it took from the shop, in minor units.
    pub(super) fn taken(&self) -> i64 {
        if matches!(self.status, DisputeStatus::NeedsResponse | DisputeStatus::Lost) { self.amount } else { 0 }
    }
}

impl Ledger {
    /// Opens a dispute, or an inquiry.
    pub(super) fn dispute(&mut self, intent: &str, amount: Option<i64>, is_inquiry: bool) -> Changed {
        let id = self.new_id("dp");
        let entry = self.entry(intent)?;
        entry.in_status(&[Status::Succeeded])?;
        let amount = amount.unwrap_or_else(|| entry.held());
        // The bank takes back what it charged, also where the shop has refunded a part of it meanwhile.
        if !(1..=entry.captured).contains(&amount) {
            return Err(Refused::malformed("the amount must be at least 1, and at most what was captured"));
        }
        let status = if is_inquiry { DisputeStatus::WarningNeedsResponse } else { DisputeStatus::NeedsResponse };
        let dispute = Dispute {
            id,
            object: "dispute".to_owned(),
            amount,
            charge: entry.charge_id(),
            currency: entry.currency.clone(),
            is_charge_refundable: is_inquiry,
            metadata: BTreeMap::new(),
            payment_intent: intent.to_owned(),
            reason: "fraudulent".to_owned(),
            status,
        };
        let body = json!(dispute);
        entry.disputes.push(dispute);
        let withdrawn = (!is_inquiry).then_some("charge.dispute.funds_withdrawn");
        let events = ["charge.dispute.created"].into_iter().chain(withdrawn);
        Ok(Change { status: 200, events: events.map(|event| (event, body.clone())).collect(), body })
    }

    /// Ends a dispute or an inquiry, or makes an inquiry a dispute.
    pub(super) fn update_dispute(&mut self, id: &str, status: DisputeStatus) -> Changed {
        use DisputeStatus::{Lost, NeedsResponse, WarningClosed, WarningNeedsResponse, Won};
        let dispute = self.intents.values_mut().flat_map(|entry| &mut entry.disputes).find(|dispute| dispute.id == id);
        let dispute = dispute.ok_or_else(|| Refused::missing("dispute", id))?;
        let events: &[_] = match (dispute.status, status) {
            (NeedsResponse, Won) => &["charge.dispute.funds_reinstated", "charge.dispute.closed"],
            // The bank may give the money back after the dispute was closed.
            (Lost, Won) => &["charge.dispute.funds_reinstated", "charge.dispute.updated"],
            (NeedsResponse, Lost) | (WarningNeedsResponse, WarningClosed) => &["charge.dispute.closed"],
            (WarningNeedsResponse, NeedsResponse) => &["charge.dispute.updated", "charge.dispute.funds_withdrawn"],
            (now, _) => return Err(Refused::new(400, None, format!("This dispute is {now:?}."))),
        };
        dispute.status = status;
        dispute.is_charge_refundable &= status != NeedsResponse;
        let body = json!(dispute);
        Ok(Change { status: 200, events: events.iter().map(|event| (*event, body.clone())).collect(), body })
    }
}
