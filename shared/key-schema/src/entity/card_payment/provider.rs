//! The payment at the provider: an intent, what the provider has reported about it, and what it is asked for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[cfg(doc)]
use super::CardPayment;
use crate::entity::stock::is_zero;
use crate::value::{IntentId, Timestamp};

/// A payment at the provider: a payment intent, what the provider holds of it, and what it is asked for.
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
    /// Whether the goods are shipped and the capture is left to staff.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_capture: bool,
    /// The number of the refund that is under way, or else of the last one that Till asked for. It is stored before the
    /// provider is asked, and is a part of the request's idempotency key.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refund: u32,
    /// The amount of the refund that is under way, in minor units. Zero if none is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refunding: i64,
    /// When the provider last failed at the refund that is under way: it may be carried out all the same. Or when it
    /// first did not know the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<Timestamp>,
    /// The provider's code for why it refuses, for good, to refund what is due, or to capture. Staff have to do
    /// something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    #[serde(flatten)]
    pub held: Held,
}

/// What the provider held of a payment intent when Till last looked.
///
/// A holding replaces the one before it, because amounts fall as well as grow: a refund may fail after it was made. So
/// Till looks at the provider between its read of the order and a write that is conditional on that read. Then the
/// holding of the later write was seen later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    pub progress: Progress,
    /// The amount that the provider has captured, in minor units.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub captured: i64,
    /// The sum of the refunds that are made or under way, in minor units.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refunded: i64,
    /// The sum of the refunds that failed, in minor units. The provider has this money again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: i64,
    /// The amount that the customer's bank has taken back by disputes, in minor units.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disputed: i64,
    /// The newest dispute, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispute: Option<Dispute>,
}

/// The state of a dispute: the customer's bank demands a payment back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Dispute {
    /// The bank asks, or has taken the money for now. The shop answers in the provider's dashboard.
    Open,
    /// The shop keeps the money.
    Won,
    /// The bank keeps the money.
    Lost,
}

/// The progress of a payment intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Progress {
    /// The customer has not paid yet.
    Started,
    /// The last attempt to pay was declined. The customer may try again.
    Declined,
    /// The amount is reserved on the customer's account.
    Authorized,
    /// The intent ended before the customer paid.
    Ended,
    /// The amount was reserved, and was released without a capture: the shop voided the intent, or the authorization
    /// expired.
    Released,
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
    /// Make the refund with this number, of this amount in minor units.
    Refund { number: u32, amount: i64 },
}

impl Held {
    /// What the provider holds of a new intent.
    pub const NOTHING: Self =
        Self { progress: Progress::Started, captured: 0, refunded: 0, failed: 0, disputed: 0, dispute: None };

    /// Nothing, of an intent with this progress.
    pub fn of(progress: Progress) -> Self {
        Self { progress, ..Self::NOTHING }
    }

    /// Whether the provider holds money of the customer, reserved or captured.
    pub fn is_some(self) -> bool {
        self.progress == Progress::Authorized || self.kept() > 0
    }

    /// The captured amount that the shop has, in minor units: it was neither refunded nor taken back. None if the bank took
    /// back what was refunded before.
    pub fn kept(self) -> i64 {
        (self.captured - self.refunded - self.disputed).max(0)
    }
}

impl ProviderPayment {
    /// Till's own code for a payment that the provider does not know.
    pub const UNKNOWN: &str = "not_its_payment";

    /// Till's own code for a payment that has another amount at the provider.
    pub const OTHER_AMOUNT: &str = "another_amount";

    /// The provider's code for a charge that the customer's bank disputes.
    pub(super) const DISPUTED: &str = "charge_disputed";

    /// The bank has released what it reserved so many seconds ago. Stripe's longest authorizations end after 30 days.
    pub const RESERVED_FOR: u32 = 31 * 24 * 60 * 60;

    /// The payment of an intent that the customer has not paid yet.
    pub fn new(intent: IntentId, attempt: u32) -> Self {
        Self {
            intent,
            attempt,
            amount: None,
            capture_requested: false,
            awaits_capture: false,
            refund: 0,
            refunding: 0,
            failed_at: None,
            refused: None,
            held: Held::NOTHING,
        }
    }

    /// Whether the customer can still pay, or has paid and the money is only reserved.
    pub fn is_open(&self) -> bool {
        matches!(self.held.progress, Progress::Started | Progress::Declined | Progress::Authorized)
    }

    /// Whether the intent ended without a capture, so that the customer may start another one.
    pub fn has_ended(&self) -> bool {
        matches!(self.held.progress, Progress::Ended | Progress::Released)
    }

    /// Whether the provider refuses to capture what it has reserved.
    pub fn refuses_capture(&self) -> bool {
        self.refused.is_some() && self.held.progress == Progress::Authorized
    }

    /// Whether the provider does not have this payment as the table has it, so that it can neither void nor refund it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.refused.as_deref(), Some(Self::UNKNOWN | Self::OTHER_AMOUNT))
    }

    /// Records that the provider refuses for good, by this code. If it still does not know what was reserved
    /// [`RESERVED_FOR`](Self::RESERVED_FOR) seconds ago, nothing is reserved any more.
    pub(super) fn refuse(&mut self, code: &str, now: Timestamp) {
        let was_unknown = self.refused.as_deref() == Some(Self::UNKNOWN);
        let unknown_since = self.failed_at.filter(|_| was_unknown).unwrap_or(now);
        // Staff refund what is refused while no dispute is seen, so a dispute that is won changes nothing.
        let is_staffs = code == Self::DISPUTED && !self.is_disputed();
        let code = if is_staffs { "refused" } else { code };
        (self.refunding, self.refused, self.failed_at) = (0, Some(code.to_owned()), None);
        if code == Self::UNKNOWN {
            self.failed_at = Some(unknown_since);
            // A capture that was asked for may have been made.
            if !self.capture_requested && unknown_since <= now.minus_seconds(Self::RESERVED_FOR) {
                self.held = Held::of(Progress::Released);
            }
        }
    }

    /// Whether the reason of a refusal is gone by this look, so that the provider is asked again. What staff may have
    /// refunded meanwhile stays theirs.
    pub(super) fn may_ask_again(&self, held: Held) -> bool {
        let was_disputed = self.is_disputed() && self.refused.as_deref() == Some(Self::DISPUTED);
        let is_unpaid = held.progress != Progress::Captured;
        self.held.progress != held.progress
            || (was_disputed && held.dispute == Some(Dispute::Won))
            || (is_unpaid && self.is_unknown())
    }

    /// Whether the customer's bank and the shop have not settled their dispute.
    pub fn is_disputed(&self) -> bool {
        self.held.dispute == Some(Dispute::Open)
    }
}
