//! The money of a card payment: what came in, what went back, and who has to do something about the rest.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CardPayment, Command, Progress};
use crate::entity::Balance;
use crate::value::Money;

/// What is to be done about a payment, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// Till asks the provider to capture, void or refund, within a minute or so.
    Provider,
    /// Staff refund the customer and record that: `POST /invoices/{invoiceId}/refunds`.
    Refund,
    /// Staff answer the bank in the provider's dashboard. The payment leaves the list once the dispute is closed.
    Dispute,
    /// Money is missing that came in before: a dispute was lost, or somebody refunded it in the provider's dashboard.
    /// Or the provider refuses to capture what it has reserved. Staff record another payment (`POST
    /// /invoices/{invoiceId}/payments`), write it off (`POST /invoices/{invoiceId}/write-offs`), or cancel the order.
    Missing,
    /// The goods are shipped, and staff have not asked for the capture yet: `POST /invoices/{invoiceId}/payments`.
    Capture,
    /// The authorization ended before the capture, and the customer has to pay again. Staff may do what they do about
    /// missing money.
    Lapsed,
}

impl CardPayment {
    /// The amount that the shop wants of this payment, in minor units: all that is not credited or written off, or
    /// nothing if the order is cancelled. It only shrinks.
    pub fn wanted(&self) -> i64 {
        self.agreed().max(0)
    }

    /// The amount that the shop is to have in the end. Below zero if staff wrote off what they returned beyond the
    /// payment.
    fn agreed(&self) -> i64 {
        let owed = if self.cancelled { 0 } else { self.amount.amount() - self.credited };
        owed - self.written_off
    }

    /// The amount that the shop received, in minor units. It only grows.
    pub fn received(&self) -> i64 {
        self.transferred() + self.held().captured
    }

    /// The amount that the shop returned, in minor units.
    pub fn returned(&self) -> i64 {
        self.refunded_by_staff() + self.held().refunded
    }

    /// What the shop has of the payment, in minor units: what came in, less what went back or was taken back.
    fn kept(&self) -> i64 {
        self.received() - self.returned() - self.held().disputed
    }

    /// The amount that the shop has to return, in minor units.
    pub fn due(&self) -> i64 {
        (self.kept() - self.wanted()).max(0)
    }

    /// The amount that the shop wants and does not have, in minor units.
    pub fn missing(&self) -> i64 {
        (self.agreed() - self.kept()).max(0)
    }

    /// The part of what is due that the provider has, and is to refund. What failed there, or is refused, staff pay.
    fn due_by_provider(&self) -> i64 {
        let Some(provider) = &self.provider else { return 0 };
        if provider.refused.is_some() || provider.is_disputed() {
            return provider.refunding;
        }
        // What staff refund is first what they received themselves.
        let by_hand = (self.refunded_by_staff() - self.transferred()).max(0);
        let failed = (provider.held.failed - by_hand).max(0);
        (self.due() - failed).min(provider.held.kept()).max(provider.refunding)
    }

    /// The amount that staff have to refund, in minor units. While the bank disputes the payment, that is at most what they
    /// received themselves.
    pub fn due_by_staff(&self) -> i64 {
        let due = self.due() - self.due_by_provider();
        if self.is_disputed() { due.min(self.transferred() - self.refunded_by_staff()).max(0) } else { due }
    }

    fn is_disputed(&self) -> bool {
        self.provider.as_ref().is_some_and(super::ProviderPayment::is_disputed)
    }

    fn transferred(&self) -> i64 {
        self.transfer.as_ref().map_or(0, |transfer| transfer.amount)
    }

    fn refunded_by_staff(&self) -> i64 {
        self.refunds.iter().map(|refund| refund.amount).sum()
    }

    /// The amount that this work is about, in minor units.
    pub fn amount_of(&self, work: Work) -> i64 {
        match (work, self.command()) {
            (Work::Provider, Some(Command::Refund { amount, .. } | Command::Capture { amount })) => amount,
            (Work::Provider, _) => self.amount.amount(),
            (Work::Refund, _) => self.due_by_staff(),
            (Work::Dispute, _) => self.held().disputed,
            (Work::Missing | Work::Lapsed | Work::Capture, _) => self.missing(),
        }
    }

    /// What the provider must be asked to do next, if anything. It depends on the stored payment alone.
    ///
    /// One refund is under way at a time. Its number and amount are stored before the provider is asked, and stay until
    /// the provider has it or refuses it. So two processes that ask for it, one of them late, ask for the same refund
    /// with the same idempotency key, even if more was credited between them.
    pub fn command(&self) -> Option<Command> {
        let provider = self.provider.as_ref()?;
        let wanted = if self.transfer.is_some() { 0 } else { self.wanted() };
        match provider.held.progress {
            Progress::Captured => {
                let refund = Command::Refund { number: provider.refund, amount: provider.refunding };
                (provider.refunding > 0).then_some(refund)
            }
            Progress::Authorized if wanted > 0 => {
                let is_asked = provider.capture_requested && !provider.refuses_capture();
                is_asked.then_some(Command::Capture { amount: wanted })
            }
            // What the customer's bank has reserved is asked for again, until the provider knows it.
            Progress::Authorized if wanted == 0 => Some(Command::Void),
            Progress::Started | Progress::Declined if wanted == 0 && !provider.is_unknown() => Some(Command::Void),
            _ => None,
        }
    }

    /// The payment with its next refund, if none is under way.
    pub(super) fn with_next_refund(mut self) -> Self {
        let amount = self.due_by_provider();
        if let Some(provider) = &mut self.provider
            && provider.refunding == 0
            && amount > 0
        {
            (provider.refund, provider.refunding, provider.failed_at) = (provider.refund + 1, amount, None);
        }
        self
    }

    /// What is to be done about the payment of an order that was paid or cancelled, if anything.
    pub fn work(&self) -> Option<Work> {
        let provider = self.provider.as_ref();
        let is_refused = provider.is_some_and(super::ProviderPayment::refuses_capture);
        let awaits_capture =
            |own: &super::ProviderPayment| own.awaits_capture && own.held.progress == Progress::Authorized;
        match () {
            () if self.command().is_some() => Some(Work::Provider),
            () if self.is_disputed() => Some(Work::Dispute),
            () if self.due_by_staff() > 0 => Some(Work::Refund),
            () if self.missing() == 0 => None,
            () if is_refused || self.received() > 0 => Some(Work::Missing),
            () if provider.is_some_and(awaits_capture) => Some(Work::Capture),
            () => None,
        }
    }

    /// The amounts that this payment brought in, that were returned, and that are due.
    pub fn balance(&self) -> Balance {
        let money = |amount| Money::nearest(amount, self.amount.currency());
        Balance { received: money(self.received()), returned: money(self.returned()), due: money(self.due()) }
    }
}
