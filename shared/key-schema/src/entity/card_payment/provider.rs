//! The payment at the provider: an intent, what the provider has reported about it, and what it is asked for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[cfg(doc)]
use super::CardPayment;
use crate::entity::stock::is_zero;
use crate::value::IntentId;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
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
    pub(super) fn of(intent: IntentId) -> Self {
        let report = Report::STARTED;
        Self { intent, attempt: 1, amount: None, capture_requested: false, refunding: 0, report }
    }

    /// Another attempt has another intent, so the intent itself need not differ.
    pub(super) fn unlike(&self) -> Self {
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
