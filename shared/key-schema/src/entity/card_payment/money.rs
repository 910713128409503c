//! The money of a card payment: what came in, what goes back, and what the provider must be asked for next.

use super::{CardPayment, Command, Progress, Report};
use crate::entity::{Balance, PaymentStatus, Settlement};
use crate::value::Money;

impl CardPayment {
    /// Whether the payment, as far as it is captured, did not come through the provider.
    pub fn is_recorded_by_staff(&self) -> bool {
        self.provider.is_none() || self.is_paid_otherwise()
    }

    /// Whether staff recorded a payment that did not come through the provider.
    pub(super) fn is_paid_otherwise(&self) -> bool {
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
    pub(super) fn with_next_refund(mut self) -> Self {
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

    pub(super) fn wanted_of_provider(&self) -> i64 {
        if self.is_paid_otherwise() { 0 } else { self.wanted() }
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
    pub(super) fn due_by_staff(&self) -> i64 {
        (self.received_by_staff() - self.returned_by_staff() - self.wanted()).max(0)
    }

    /// The amount that the shop received, in minor units.
    pub(super) fn received(&self) -> i64 {
        self.received_by_staff() + self.report().map_or(0, |report| report.captured)
    }

    /// The amount that the shop returned, in minor units.
    pub(super) fn returned(&self) -> i64 {
        self.returned_by_staff() + self.report().map_or(0, |report| report.refunded)
    }

    /// The amount that the shop has to return, in minor units.
    pub(super) fn due(&self) -> i64 {
        let kept = self.report().map_or(0, Report::kept);
        self.due_by_staff() + (kept - self.wanted_of_provider()).max(0)
    }

    /// The amounts that this payment brought in, that were returned, and that are due.
    pub fn balance(&self) -> Balance {
        let money = |amount| Money::nearest(amount, self.amount.currency());
        Balance { received: money(self.received()), returned: money(self.returned()), due: money(self.due()) }
    }
}
