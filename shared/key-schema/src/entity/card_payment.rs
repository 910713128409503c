//! The card payment of an invoice: what the shop wants, and what the payment provider has reported.

use serde::{Deserialize, Serialize};

use super::stock::is_zero;
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
    /// The part of `amount` that is credited, because units were cancelled or returned. In minor units; it only grows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub credited: i64,
    /// The amount that staff recorded, in minor units, if a part was credited before. Absent if it is `amount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<i64>,
    /// The refunds that staff recorded, the oldest first. The last release recorded the one refund of a cancelled order
    /// in `settlement` alone.
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

/// A payment at the provider: a payment intent, and all that the provider has reported about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderPayment {
    /// The provider's id of the payment intent.
    pub intent: IntentId,
    /// The number of the intent: 1 for an order's first. The next one is started if the provider ended this one.
    pub attempt: u32,
    /// The amount of the intent, in minor units, if a part of the payment was credited before. Absent if it is the
    /// whole payment. The amount of an intent never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// Whether the shop has asked for the capture: the order is shipped, or staff asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capture_requested: bool,
    /// The sum of all refunds once the one that is under way is made, in minor units: see
    /// [`command`](CardPayment::command).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refunding: i64,
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

    /// Whether the provider holds money of the customer, reserved or captured.
    pub fn holds_money(self) -> bool {
        self.progress == Progress::Authorized || self.kept() > 0
    }

    /// The captured amount that was not refunded, in minor units.
    pub fn kept(self) -> i64 {
        self.captured - self.refunded
    }
}

impl ProviderPayment {
    /// A first intent, for the whole payment.
    fn of(intent: IntentId) -> Self {
        let report = Report::STARTED;
        Self { intent, attempt: 1, amount: None, capture_requested: false, refunding: 0, report }
    }

    /// Another attempt has another intent, so the intent itself need not differ.
    fn unlike(&self) -> Self {
        let Self { intent, attempt, amount, capture_requested, refunding, report } = self;
        let Report { progress, captured, refunded } = report;
        let started = Progress::Started;
        Self {
            intent: intent.clone(),
            attempt: attempt + 1,
            amount: Some(amount.unwrap_or_default() + 1),
            capture_requested: !capture_requested,
            refunding: refunding + 1,
            report: Report {
                progress: if *progress == started { Progress::Declined } else { started },
                captured: captured + 1,
                refunded: refunded + 1,
            },
        }
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
            credited: 0,
            recorded: None,
            refunds: Vec::new(),
        }
    }

    /// The provider's report, if the customer started to pay.
    pub fn report(&self) -> Option<Report> {
        self.provider.as_ref().map(|provider| provider.report)
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
            OrderStatus::Paid | OrderStatus::Shipped | OrderStatus::Delivered => {
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
    ///
    /// One refund is under way at a time. Its sum with all earlier ones, `refunding`, is stored before the provider is
    /// asked, and stays until the provider reports it. So two processes that ask for it, one of them late, ask for the
    /// same refund with the same idempotency key, even if more was credited between them.
    pub fn command(&self) -> Option<Command> {
        let provider = self.provider.as_ref()?;
        let (report, wanted) = (provider.report, self.wanted_of_provider());
        match report.progress {
            Progress::Captured => {
                let total = if provider.refunding > report.refunded { provider.refunding } else { self.to_refund() };
                (total > report.refunded).then(|| Command::Refund { amount: total - report.refunded, total })
            }
            Progress::Authorized if wanted > 0 => {
                provider.capture_requested.then_some(Command::Capture { amount: wanted })
            }
            Progress::Started | Progress::Declined | Progress::Authorized if wanted == 0 => Some(Command::Void),
            _ => None,
        }
    }

    /// The payment with its next refund, if the last one is reported.
    fn with_next_refund(mut self) -> Self {
        let total = self.to_refund();
        if let Some(provider) = &mut self.provider
            && provider.report.refunded >= provider.refunding
        {
            provider.refunding = provider.refunding.max(total);
        }
        self
    }

    /// The sum of all refunds after which the provider has what the shop wants, in minor units.
    fn to_refund(&self) -> i64 {
        let captured = self.report().map_or(0, |report| report.captured);
        (captured - self.wanted_of_provider()).max(0)
    }

    fn wanted_of_provider(&self) -> i64 {
        if self.is_paid_otherwise() { 0 } else { self.wanted() }
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

    /// Whether the shop has to act: the provider must be asked for something, or staff must refund a payment that they
    /// recorded themselves.
    pub fn is_due(&self) -> bool {
        self.command().is_some() || self.due_by_staff() > 0
    }

    /// The amount that came without the provider, in minor units.
    ///
    /// The release of 2026-11-21 marked every payment of a cancelled order as `refunded`, captured or not, and published
    /// no event for the refund. If such a payment has a reference, it was captured.
    fn received_by_staff(&self) -> i64 {
        let is_received = match (self.status, &self.settlement) {
            (PaymentStatus::Captured, _)
            | (PaymentStatus::Refunded, Some(Settlement::RefundDue | Settlement::Refunded { .. })) => true,
            (PaymentStatus::Refunded, None) => self.reference.is_some(),
            (PaymentStatus::Refunded, Some(Settlement::Voided)) | (PaymentStatus::Authorized, _) => false,
        };
        if is_received && self.is_recorded_by_staff() { self.recorded.unwrap_or(self.amount.amount()) } else { 0 }
    }

    /// The amount that went back without the provider, in minor units.
    fn returned_by_staff(&self) -> i64 {
        match self.settlement {
            Some(Settlement::Refunded { .. }) => self.received_by_staff(),
            _ => self.refunds.iter().map(|refund| refund.amount).sum(),
        }
    }

    /// The amount that staff have to refund, in minor units.
    fn due_by_staff(&self) -> i64 {
        (self.received_by_staff() - self.returned_by_staff() - self.wanted()).max(0)
    }

    /// The amount that the shop received, in minor units.
    fn received(&self) -> i64 {
        self.received_by_staff() + self.report().map_or(0, |report| report.captured)
    }

    /// The amount that the shop returned, in minor units.
    fn returned(&self) -> i64 {
        self.returned_by_staff() + self.report().map_or(0, |report| report.refunded)
    }

    /// The amount that the shop has to return, in minor units.
    fn due(&self) -> i64 {
        let kept = self.report().map_or(0, Report::kept);
        self.due_by_staff() + (kept - self.wanted_of_provider()).max(0)
    }

    /// The amounts that this payment brought in, that were returned, and that are due.
    pub fn balance(&self) -> Balance {
        let money = |amount| Money::nearest(amount, self.amount.currency());
        Balance { received: money(self.received()), returned: money(self.returned()), due: money(self.due()) }
    }
}
