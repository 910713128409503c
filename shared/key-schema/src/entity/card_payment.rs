//! The card payment of an invoice: what the shop wants, what the payment provider holds, and what staff recorded.

use serde::{Deserialize, Serialize};

use super::stock::is_zero;
use super::{OrderStatus, PaymentState, PaymentStatus};
use crate::value::{IntentId, Money, Timestamp};

mod money;
mod provider;
#[cfg(test)]
mod tests;

pub use money::Work;
pub use provider::{Command, Dispute, Held, Progress, ProviderPayment};

/// The card payment of an invoice, for what the gift cards leave: two books, and what the shop wants of both together.
///
/// One book is the provider's, of which [`provider`](Self::provider) is the last look. The other one is kept by staff:
/// a bank transfer or another payment, and the refunds that they made themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardPayment {
    pub amount: Money,
    /// Whether the order is cancelled, so that the shop wants nothing of the payment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// Whether the order was cancelled because it was not paid in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
    /// The part of `amount` that is credited, because units were cancelled or returned, or an amount was given back. In
    /// minor units; it only grows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub credited: i64,
    /// The part of `amount` that staff decided to go without, in minor units.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written_off: i64,
    /// The part of `written_off` that a dispute had taken. If the bank gives it back, it is not written off any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written_off_disputed: i64,
    /// The payment at the provider. Absent until the customer starts to pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderPayment>,
    /// The payment that staff recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
    /// The refunds that staff recorded, the oldest first: of the transfer, or of what the provider could not refund.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Transfer>,
}

/// Money that staff received or returned, and recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transfer {
    /// The bank's reference.
    pub reference: String,
    /// The amount, in minor units.
    pub amount: i64,
}

impl CardPayment {
    /// A look so many seconds after a refund failed finds it if the provider has made it.
    pub const SURE_AFTER: u32 = 5 * 60;

    /// A payment of this amount that the customer has not started.
    pub fn of(amount: Money) -> Self {
        Self {
            amount,
            cancelled: false,
            expired: false,
            credited: 0,
            written_off: 0,
            written_off_disputed: 0,
            provider: None,
            transfer: None,
            refunds: Vec::new(),
        }
    }

    /// What the provider held when Till last looked. Nothing if the customer has not started to pay.
    pub fn held(&self) -> Held {
        self.provider.as_ref().map_or(Held::NOTHING, |provider| provider.held)
    }

    /// The bank's reference of the payment: of the transfer, or the provider's intent once it is captured.
    pub fn reference(&self) -> Option<&str> {
        let intent = || self.provider.as_ref().filter(|provider| provider.held.captured > 0);
        self.transfer.as_ref().map(|it| it.reference.as_str()).or_else(|| intent().map(|it| it.intent.as_str()))
    }

    /// The reference of the newest refund: what staff recorded, or the provider's intent.
    pub fn refund_reference(&self) -> Option<&str> {
        let intent = || self.provider.as_ref().filter(|provider| provider.held.refunded > 0);
        self.refunds.last().map(|it| it.reference.as_str()).or_else(|| intent().map(|it| it.intent.as_str()))
    }

    /// The amount of the next intent: what the shop wants.
    pub fn asked(&self) -> Money {
        Money::nearest(self.wanted(), self.amount.currency())
    }

    /// Whether the provider may have this amount of the intent. An intent that is not known yet was started for all
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

    /// The status, as a gift card's is stored.
    pub fn status(&self) -> PaymentStatus {
        match self.received() {
            _ if self.cancelled => PaymentStatus::Refunded,
            0 => PaymentStatus::Authorized,
            _ => PaymentStatus::Captured,
        }
    }

    /// The state.
    pub fn state(&self) -> PaymentState {
        let progress = self.provider.as_ref().map(|provider| provider.held.progress);
        match (self.received() > 0, progress) {
            _ if self.due() > 0 => PaymentState::RefundDue,
            (true, _) if self.wanted() == 0 => PaymentState::Refunded,
            (true, _) => PaymentState::Captured,
            (false, _) if self.expired => PaymentState::Expired,
            (false, _) if self.wanted() == 0 => PaymentState::Voided,
            (false, None | Some(Progress::Started)) => PaymentState::Pending,
            (false, Some(Progress::Declined)) => PaymentState::Declined,
            (false, Some(Progress::Authorized | Progress::Captured)) => PaymentState::Authorized,
            (false, Some(Progress::Ended | Progress::Released)) => PaymentState::Expired,
        }
    }

    /// Whether an order in this status may have this payment.
    ///
    /// If an authorization ends before it is captured, the order stays paid, and the customer may pay again. If credits
    /// leave nothing to pay, the order is paid.
    pub fn fits(&self, order: OrderStatus) -> bool {
        use PaymentState::{Declined, Expired, Pending};

        match order {
            OrderStatus::Cancelled => self.cancelled,
            _ if self.cancelled => false,
            OrderStatus::Pending => {
                matches!(self.state(), Pending | Declined | Expired) && self.held().progress != Progress::Released
            }
            OrderStatus::Paid | OrderStatus::Packing | OrderStatus::Shipped | OrderStatus::Delivered => {
                let is_paid_again = self.provider.as_ref().is_some_and(|provider| provider.attempt > 1);
                is_paid_again || !matches!(self.state(), Pending | Declined)
            }
        }
    }

    /// Whether all of the money is there, or reserved for the shop, or nothing is left to pay. Such an order may be
    /// shipped.
    pub fn is_secured(&self) -> bool {
        let is_disputed = self.provider.as_ref().is_some_and(ProviderPayment::is_disputed);
        !self.cancelled && !is_disputed && (self.missing() == 0 || self.state() == PaymentState::Authorized)
    }

    /// Whether the customer has paid: the provider has reserved or captured money, also if it is gone since, or staff
    /// have received it. Or nothing is left to pay.
    pub fn was_paid(&self) -> bool {
        self.received() > 0 || self.is_secured() || self.held().progress == Progress::Released
    }

    /// Whether nothing came in, and nothing is reserved: the customer has to pay again.
    pub fn has_lapsed(&self) -> bool {
        !self.cancelled && self.received() == 0 && !self.is_secured()
    }

    /// The payment after the cancellation of its order: due for refund if the shop has money of it, and void if not.
    pub(super) fn cancelled(mut self, expired: bool) -> Self {
        self.cancelled = true;
        self.expired = expired && self.received() == 0;
        self.with_next_refund()
    }

    /// The payment after this amount of it is credited, in minor units.
    pub(super) fn with_credited(mut self, credited: i64) -> Self {
        self.credited = credited;
        self.with_next_refund()
    }

    /// The payment after staff recorded that the bank has under this reference what is missing: all that is wanted, or
    /// what a dispute or a refund took back. If the order is cancelled, the payment came too late: a refund is due.
    #[must_use]
    pub fn paid_under(&self, reference: &str) -> Self {
        let is_late = self.cancelled && self.received() == 0;
        let amount = if is_late { self.amount.amount() - self.credited } else { self.missing() };
        let transfer = Some(Transfer { reference: reference.to_owned(), amount });
        Self { transfer, ..self.clone() }.with_next_refund()
    }

    /// The payment after staff recorded a refund of all that they owe. `None` if they owe nothing.
    #[must_use]
    pub fn refunded_under(&self, reference: &str) -> Option<Self> {
        let amount = self.due_by_staff();
        (amount > 0).then(|| {
            let mut next = self.clone();
            next.refunds.push(Transfer { reference: reference.to_owned(), amount });
            next
        })
    }

    /// The refund that staff recorded under this reference.
    pub fn refunded_as(&self, reference: &str) -> Option<&Transfer> {
        self.refunds.iter().find(|refund| refund.reference == reference)
    }

    /// The payment after staff decided to go without what is missing. `None` if nothing is.
    #[must_use]
    pub fn with_written_off(&self) -> Option<Self> {
        let missing = self.missing();
        let written_off_disputed = self.held().disputed.min(self.written_off_disputed + missing);
        let written_off = self.written_off + missing;
        (missing > 0).then(|| Self { written_off, written_off_disputed, ..self.clone() }.with_next_refund())
    }

    /// The payment after another look at its intent. `newest` is the highest number among the refunds that Till made
    /// there.
    ///
    /// A capture that comes after the order was cancelled is due for refund. If staff have recorded another payment, the
    /// provider's is not needed, and [`command`](Self::command) says so.
    #[must_use]
    pub fn observed(&self, held: Held, newest: u32) -> Self {
        let mut next = self.clone();
        let Some(provider) = &mut next.provider else { return next };
        if provider.refund <= newest {
            (provider.refund, provider.refunding, provider.failed_at) = (newest, 0, None);
        }
        if provider.may_ask_again(held) {
            (provider.refused, provider.failed_at) = (None, None);
        }
        provider.held = held;
        let back = (next.written_off_disputed - held.disputed).max(0);
        next.written_off -= back;
        next.written_off_disputed -= back;
        let most = next.due().min(held.kept());
        if let Some(provider) = next.provider.as_mut().filter(|provider| provider.refunding > most) {
            // Somebody else has refunded it meanwhile. The number stays: under it, the provider makes at most one
            // refund.
            provider.refunding = most;
            provider.refund -= u32::from(most == 0);
        }
        next.with_next_refund()
    }

    /// Whether the provider failed at the refund that is under way.
    pub fn refund_has_failed(&self) -> bool {
        self.provider.as_ref().is_some_and(|provider| provider.failed_at.is_some())
    }

    /// The payment after the provider did not carry out this command. With a `code` it refuses for good: of a refund or a
    /// capture, staff decide. Without one it failed. A refund that failed may be made all the same: see
    /// [`renumbered`](Self::renumbered). If the provider has not known the payment for as long as an authorization can
    /// last ([`RESERVED_FOR`](ProviderPayment::RESERVED_FOR)), and no capture was asked for, nothing is reserved any more.
    #[must_use]
    pub fn failed(&self, command: Command, code: Option<&str>, now: Timestamp) -> Self {
        let mut next = self.clone();
        let Some(provider) = next.provider.as_mut().filter(|_| self.command() == Some(command)) else { return next };
        match (command, code) {
            (_, Some(code)) => provider.refuse(code, now),
            (Command::Refund { .. }, None) => provider.failed_at = Some(now),
            _ => {}
        }
        next.with_next_refund()
    }

    /// The payment after a look that did not find the refund under way. If it failed [`SURE_AFTER`](Self::SURE_AFTER)
    /// seconds ago or earlier, it was not made, and gets another number: its idempotency key keeps the failure.
    #[must_use]
    pub fn renumbered(mut self, now: Timestamp) -> Self {
        if let Some(provider) = &mut self.provider
            && provider.failed_at.is_some_and(|at| at <= now.minus_seconds(Self::SURE_AFTER))
        {
            (provider.refunding, provider.failed_at) = (0, None);
        }
        self.with_next_refund()
    }

    /// The number of the next intent, if one may be started: something is left to pay, and there is no intent, or the
    /// last one ended. `None` if the payment is captured or its order cancelled.
    pub fn next_attempt(&self) -> Option<u32> {
        match &self.provider {
            _ if self.wanted() == 0 || self.received() > 0 => None,
            None => Some(1),
            Some(provider) if provider.has_ended() => Some(provider.attempt + 1),
            Some(_) => None,
        }
    }
}
