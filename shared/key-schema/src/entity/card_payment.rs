//! The card payment of an invoice: what the shop wants, and what the payment provider has reported.

use serde::{Deserialize, Serialize};

use super::{Balance, OrderStatus, PaymentState, PaymentStatus, Settlement};
use crate::value::{IntentId, Money};

#[cfg(test)]
mod tests;

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
}

/// A payment at the provider: a payment intent, and all that the provider has reported about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderPayment {
    /// The provider's id of the payment intent.
    pub intent: IntentId,
    /// The number of the intent: 1 for an order's first. The next one is started if the provider ended this one.
    pub attempt: u32,
    /// Whether the shop has asked for the capture: the order is shipped, or staff asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capture_requested: bool,
    #[serde(flatten)]
    pub report: Report,
}

/// What the provider has reported about a payment intent.
///
/// Reports arrive several times and in any order. They only grow: [`join`](Self::join) of two reports has all that either
/// of them has, whichever came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub progress: Progress,
    /// The amount that the provider has captured, in minor units.
    #[serde(default)]
    pub captured: i64,
    /// The amount that the provider has refunded, in minor units.
    #[serde(default)]
    pub refunded: i64,
}

/// The progress of a payment intent, in the order in which an intent passes through it. An intent never returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Progress {
    /// The customer has not paid yet.
    Started,
    /// The last attempt to pay was declined. The customer may try again.
    Declined,
    /// The amount is reserved on the customer's account.
    Authorized,
    /// The intent ended without a capture: the shop voided it, or the authorization expired.
    Ended,
    /// The provider has captured the payment.
    Captured,
}

/// What the shop has to ask of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Capture this amount, in minor units.
    Capture { amount: i64 },
    /// End the intent, and with it an authorization.
    Void,
    /// Refund `amount`, so that the refunds add up to `total`. Both are in minor units.
    Refund { amount: i64, total: i64 },
}

impl Report {
    /// The report of a new intent.
    pub const STARTED: Self = Self { progress: Progress::Started, captured: 0, refunded: 0 };

    /// All that either report has. The operation is commutative, associative and idempotent.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            progress: self.progress.max(other.progress),
            captured: self.captured.max(other.captured),
            refunded: self.refunded.max(other.refunded),
        }
    }

    /// The captured amount that was not refunded, in minor units.
    pub fn kept(self) -> i64 {
        self.captured - self.refunded
    }
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
        }
    }

    /// The provider's report, if the customer started to pay.
    pub fn report(&self) -> Option<Report> {
        self.provider.as_ref().map(|provider| provider.report)
    }

    /// The state.
    ///
    /// The release of 2026-11-21 marked every payment of a cancelled order as `refunded`, captured or not, and
    /// published no event for the refund. If such a payment has a reference, it was captured, and counts as due until
    /// its refund is confirmed.
    pub fn state(&self) -> PaymentState {
        match (self.status, &self.settlement) {
            (PaymentStatus::Captured, _) => PaymentState::Captured,
            (PaymentStatus::Refunded, Some(Settlement::Refunded { .. })) => PaymentState::Refunded,
            (PaymentStatus::Refunded, Some(Settlement::RefundDue)) => PaymentState::RefundDue,
            (PaymentStatus::Refunded, None) if self.reference.is_some() => PaymentState::RefundDue,
            (PaymentStatus::Refunded, _) if self.expired => PaymentState::Expired,
            (PaymentStatus::Refunded, _) => PaymentState::Voided,
            (PaymentStatus::Authorized, _) => match self.report().map(|report| report.progress) {
                None | Some(Progress::Started) => PaymentState::Pending,
                Some(Progress::Declined) => PaymentState::Declined,
                Some(Progress::Authorized | Progress::Captured) => PaymentState::Authorized,
                Some(Progress::Ended) => PaymentState::Expired,
            },
        }
    }

    /// Whether an order in this status may have this payment.
    ///
    /// If an authorization ends before it is captured, the order stays paid, and the customer may pay again.
    pub fn fits(&self, order: OrderStatus) -> bool {
        use PaymentState::{Authorized, Captured, Declined, Expired, Pending, RefundDue, Refunded, Voided};

        match order {
            OrderStatus::Pending => matches!(self.state(), Pending | Declined | Expired),
            OrderStatus::Cancelled => matches!(self.state(), Voided | Expired | RefundDue | Refunded),
            OrderStatus::Paid | OrderStatus::Shipped | OrderStatus::Delivered => {
                let is_paid_again = self.provider.as_ref().is_some_and(|provider| provider.attempt > 1);
                match self.state() {
                    Authorized | Captured | Expired => true,
                    Pending | Declined => is_paid_again,
                    Voided | RefundDue | Refunded => false,
                }
            }
        }
    }

    /// Whether the money is there, or reserved for the shop. Such an order may be shipped.
    pub fn is_secured(&self) -> bool {
        matches!(self.state(), PaymentState::Authorized | PaymentState::Captured)
    }

    /// The payment after the cancellation of its order: due for refund if it was captured, and void if not.
    pub(super) fn cancelled(mut self, expired: bool) -> Self {
        let is_captured = self.state() == PaymentState::Captured;
        self.status = PaymentStatus::Refunded;
        self.settlement = Some(if is_captured { Settlement::RefundDue } else { Settlement::Voided });
        self.expired = expired && !is_captured;
        self
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
        if report.progress != Progress::Captured || self.is_paid_otherwise() {
            return next;
        }
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
        next
    }

    /// The number of the next intent, if one may be started: there is none, or the last one ended. `None` if the payment
    /// is captured or its order cancelled.
    pub fn next_attempt(&self) -> Option<u32> {
        match (self.status, &self.provider) {
            (PaymentStatus::Authorized, None) => Some(1),
            (PaymentStatus::Authorized, Some(provider)) if provider.report.progress == Progress::Ended => {
                Some(provider.attempt + 1)
            }
            _ => None,
        }
    }

    /// Whether the payment, as far as it is captured, did not come through the provider.
    pub fn is_recorded_by_staff(&self) -> bool {
        self.provider.is_none() || self.is_paid_otherwise()
    }

    /// Whether staff recorded a payment that did not come through the provider.
    fn is_paid_otherwise(&self) -> bool {
        let intent = self.provider.as_ref().map(|provider| provider.intent.as_str());
        self.reference.as_deref().is_some_and(|reference| Some(reference) != intent)
    }

    /// What the provider must be asked to do next, if anything. It depends on the stored payment alone.
    pub fn command(&self) -> Option<Command> {
        let provider = self.provider.as_ref()?;
        let report = provider.report;
        let is_wanted = self.status != PaymentStatus::Refunded && !self.is_paid_otherwise();
        match report.progress {
            Progress::Captured if !is_wanted && report.kept() > 0 => {
                Some(Command::Refund { amount: report.kept(), total: report.captured })
            }
            Progress::Authorized if is_wanted && provider.capture_requested => {
                Some(Command::Capture { amount: self.amount.amount() })
            }
            Progress::Started | Progress::Declined | Progress::Authorized if !is_wanted => Some(Command::Void),
            _ => None,
        }
    }

    /// Whether the shop has to act: the provider must be asked for something, or staff must refund a payment that they
    /// recorded themselves.
    pub fn is_due(&self) -> bool {
        self.command().is_some() || self.state() == PaymentState::RefundDue
    }

    /// The amounts that this payment brought in, that were returned, and that are due.
    pub fn balance(&self) -> Balance {
        let money = |amount| Money::nearest(amount, self.amount.currency());
        let by_provider = self.report().unwrap_or(Report::STARTED);
        let whole = self.amount.amount();
        // A payment that staff recorded is one for the whole amount.
        let (received, returned) = match self.state() {
            PaymentState::Refunded if self.is_recorded_by_staff() => (whole, whole),
            PaymentState::Captured | PaymentState::RefundDue if self.is_recorded_by_staff() => (whole, 0),
            _ => (0, 0),
        };
        let (received, returned) = (received + by_provider.captured, returned + by_provider.refunded);
        let wanted = if self.status == PaymentStatus::Refunded { 0 } else { whole };
        Balance { received: money(received), returned: money(returned), due: money(received - returned - wanted) }
    }
}
