//! The card payment of an invoice: what the shop wants, and what the payment provider has reported.

use serde::{Deserialize, Serialize};

use super::stock::is_zero;
use super::{OrderStatus, PaymentState, PaymentStatus, Settlement};
use crate::value::{IntentId, Money};

mod money;
mod provider;
#[cfg(test)]
mod tests;

pub use provider::{Command, Progress, ProviderPayment, Report};

/// The card payment of an invoice, for what the gift cards leave.
///
/// Without [`provider`](Self::provider), the payment is a bank transfer or another payment that staff record by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardPayment {
    pub amount: Money,
    pub status: PaymentStatus,
    /// The bank's reference for the payment. Staff recorded it, or it is the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The settlement of a cancelled order's payment. Absent if the order is not cancelled, or if the release of
    /// 2026-11-21 cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement: Option<Settlement>,
    /// The payment at the provider. Absent until the customer starts to pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderPayment>,
    /// Whether the order was cancelled because it was not paid in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
    /// The part of `amount` that is credited, because units were cancelled or returned. In minor units; it only grows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub credited: i64,
    /// The amount that staff recorded, in minor units, if a part was credited before. Absent if it is `amount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<i64>,
    /// The refunds that staff recorded, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<RecordedRefund>,
}

/// A refund that staff recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRefund {
    /// The bank's reference for the refund.
    pub reference: String,
    /// The amount, in minor units.
    pub amount: i64,
}

impl CardPayment {
    /// A payment of this amount that the customer has not started.
    pub fn of(amount: Money) -> Self {
        Self {
            amount,
            status: PaymentStatus::Authorized,
            reference: None,
            settlement: None,
            provider: None,
            expired: false,
            credited: 0,
            recorded: None,
            refunds: Vec::new(),
        }
    }

    /// The provider's report, if the customer started to pay.
    pub fn report(&self) -> Option<Report> {
        self.provider.as_ref().map(|provider| provider.report)
    }

    /// Whether the report of this intent says nothing new.
    pub fn knows(&self, intent: &IntentId, report: Report) -> bool {
        let newest = self.provider.as_ref().filter(|provider| provider.intent == *intent);
        newest.is_some_and(|provider| provider.report.join(report) == provider.report)
    }

    /// The amount that the shop wants of this payment, in minor units: all that is not credited, or nothing if the order
    /// is cancelled. It only shrinks.
    pub fn wanted(&self) -> i64 {
        if self.status == PaymentStatus::Refunded { 0 } else { self.amount.amount() - self.credited }
    }

    /// The amount of the next intent: what the shop wants.
    pub fn asked(&self) -> Money {
        Money::nearest(self.wanted(), self.amount.currency())
    }

    /// Whether the provider may report this amount of the intent. An intent that is not known yet was started for all
    /// that the shop wanted then.
    pub fn may_be_asked(&self, intent: &IntentId, amount: Money) -> bool {
        let possible = match &self.provider {
            Some(provider) if provider.intent == *intent => {
                let own = provider.amount.unwrap_or(self.amount.amount());
                own..=own
            }
            _ => self.amount.amount() - self.credited..=self.amount.amount(),
        };
        amount.currency() == self.amount.currency() && possible.contains(&amount.amount())
    }

    /// The state.
    pub fn state(&self) -> PaymentState {
        let (received, wanted) = (self.received(), self.wanted());
        match (self.status, self.report().map(|report| report.progress)) {
            _ if self.due() > 0 => PaymentState::RefundDue,
            (PaymentStatus::Captured | PaymentStatus::Refunded, _) if received > 0 && wanted == 0 => {
                PaymentState::Refunded
            }
            (PaymentStatus::Captured, _) => PaymentState::Captured,
            (PaymentStatus::Refunded, _) if self.expired => PaymentState::Expired,
            (PaymentStatus::Refunded, _) => PaymentState::Voided,
            (PaymentStatus::Authorized, _) if wanted == 0 => PaymentState::Voided,
            (PaymentStatus::Authorized, None | Some(Progress::Started)) => PaymentState::Pending,
            (PaymentStatus::Authorized, Some(Progress::Declined)) => PaymentState::Declined,
            (PaymentStatus::Authorized, Some(Progress::Authorized | Progress::Captured)) => PaymentState::Authorized,
            (PaymentStatus::Authorized, Some(Progress::Ended)) => PaymentState::Expired,
        }
    }

    /// Whether an order in this status may have this payment.
    ///
    /// If an authorization ends before it is captured, the order stays paid, and the customer may pay again. If credits
    /// leave nothing to pay, the order is paid.
    pub fn fits(&self, order: OrderStatus) -> bool {
        use PaymentState::{Declined, Expired, Pending};

        let is_cancelled = self.status == PaymentStatus::Refunded;
        match order {
            OrderStatus::Cancelled => is_cancelled,
            _ if is_cancelled => false,
            OrderStatus::Pending => matches!(self.state(), Pending | Declined | Expired),
            OrderStatus::Paid | OrderStatus::Packing | OrderStatus::Shipped | OrderStatus::Delivered => {
                let is_paid_again = self.provider.as_ref().is_some_and(|provider| provider.attempt > 1);
                is_paid_again || !matches!(self.state(), Pending | Declined)
            }
        }
    }

    /// Whether the money is there, or reserved for the shop, or nothing is left to pay. Such an order may be shipped.
    pub fn is_secured(&self) -> bool {
        match self.status {
            PaymentStatus::Captured => true,
            PaymentStatus::Refunded => false,
            PaymentStatus::Authorized => self.wanted() == 0 || self.state() == PaymentState::Authorized,
        }
    }

    /// The payment after the cancellation of its order: due for refund if the shop has money of it, and void if not.
    pub(super) fn cancelled(mut self, expired: bool) -> Self {
        let (received, returned) = (self.received(), self.returned());
        self.settlement = Some(match received {
            0 => Settlement::Voided,
            _ if received > returned => Settlement::RefundDue,
            _ => Settlement::Refunded { reference: self.refund_reference().unwrap_or_default().to_owned() },
        });
        self.status = PaymentStatus::Refunded;
        self.expired = expired && received == 0;
        self.with_next_refund()
    }

    /// The payment after this amount of it is credited, in minor units.
    pub(super) fn with_credited(mut self, credited: i64) -> Self {
        self.credited = credited;
        self.with_next_refund()
    }

    /// The payment after staff recorded that the bank has it under this reference, as far as it is not credited. If the
    /// order is cancelled, the payment came too late: a refund is due.
    #[must_use]
    pub fn paid_under(&self, reference: &str) -> Self {
        let mut next = self.clone();
        next.reference = Some(reference.to_owned());
        next.recorded = (self.credited > 0).then(|| self.amount.amount() - self.credited);
        match self.status {
            PaymentStatus::Refunded => next.settlement = Some(Settlement::RefundDue),
            _ => next.status = PaymentStatus::Captured,
        }
        next.with_next_refund()
    }

    /// The payment after staff recorded a refund of all that they owe. `None` if they owe nothing.
    #[must_use]
    pub fn refunded_under(&self, reference: &str) -> Option<Self> {
        let amount = self.due_by_staff();
        (amount > 0).then(|| {
            let mut next = self.clone();
            next.refunds.push(RecordedRefund { reference: reference.to_owned(), amount });
            if self.status == PaymentStatus::Refunded {
                next.settlement = Some(Settlement::Refunded { reference: reference.to_owned() });
            }
            next
        })
    }

    /// Whether staff recorded a refund under this reference.
    pub fn is_refunded_under(&self, reference: &str) -> bool {
        let settled = matches!(&self.settlement, Some(Settlement::Refunded { reference: known }) if known == reference);
        (settled && self.is_recorded_by_staff()) || self.refunds.iter().any(|refund| refund.reference == reference)
    }

    /// The reference of the newest refund.
    pub fn refund_reference(&self) -> Option<&str> {
        let by_provider = || self.provider.as_ref().filter(|provider| provider.report.refunded > 0);
        match (&self.settlement, self.refunds.last()) {
            (Some(Settlement::Refunded { reference }), _) => Some(reference),
            (_, Some(refund)) => Some(&refund.reference),
            _ => by_provider().map(|provider| provider.intent.as_str()),
        }
    }

    /// The payment after a report of the provider about its intent.
    ///
    /// A capture that comes after the order was cancelled is due for refund. If staff have recorded another payment, the
    /// provider's is not needed, and [`command`](Self::command) says so.
    #[must_use]
    pub fn reported(&self, report: Report) -> Self {
        let mut next = self.clone();
        let Some(provider) = &mut next.provider else { return next };
        provider.report = provider.report.join(report);
        let (report, intent) = (provider.report, provider.intent.as_str().to_owned());
        if report.progress == Progress::Captured && !self.is_paid_otherwise() {
            match self.status {
                PaymentStatus::Authorized => next.status = PaymentStatus::Captured,
                PaymentStatus::Captured => {}
                PaymentStatus::Refunded => {
                    let is_refunded = report.kept() == 0;
                    let reference = intent.clone();
                    next.settlement =
                        Some(if is_refunded { Settlement::Refunded { reference } } else { Settlement::RefundDue });
                }
            }
            next.reference = Some(intent);
        }
        next.with_next_refund()
    }

    /// The number of the next intent, if one may be started: something is left to pay, and there is no intent, or the
    /// last one ended. `None` if the payment is captured or its order cancelled.
    pub fn next_attempt(&self) -> Option<u32> {
        match (self.status, &self.provider) {
            _ if self.wanted() == 0 => None,
            (PaymentStatus::Authorized, None) => Some(1),
            (PaymentStatus::Authorized, Some(provider)) if provider.report.progress == Progress::Ended => {
                Some(provider.attempt + 1)
            }
            _ => None,
        }
    }

    /// A payment that differs from this one in every field that ever changes, also in those that are absent here: see
    /// [`Invoice::unlike`](super::Invoice::unlike).
    pub(super) fn unlike(&self) -> Self {
        let Self { amount, status, reference, settlement, provider, expired, credited, recorded, refunds } = self;
        let text = || "unlike".to_owned();
        let provider = match provider {
            Some(provider) => Some(provider.unlike()),
            None => text().parse().ok().map(ProviderPayment::of),
        };
        let refund = RecordedRefund { reference: text(), amount: 0 };
        Self {
            amount: *amount,
            status: status.unlike(),
            reference: reference.is_none().then(text),
            settlement: Some(match settlement {
                Some(Settlement::Voided) => Settlement::RefundDue,
                _ => Settlement::Voided,
            }),
            provider,
            expired: !expired,
            credited: credited + 1,
            recorded: Some(recorded.unwrap_or_default() + 1),
            refunds: refunds.iter().cloned().chain([refund]).collect(),
        }
    }
}
