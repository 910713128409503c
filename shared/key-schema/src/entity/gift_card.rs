//! Gift cards.

use serde::{Deserialize, Serialize};

use super::PaymentStatus;
use crate::value::{GiftCardCode, Money, OrderId, Timestamp};

/// A gift card. `balance` plus the amounts of its captured entries, less what was returned of these, is always `initial`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GiftCard {
    /// The code on the card.
    pub code: GiftCardCode,
    /// The amount left on the card.
    pub balance: Money,
    /// The amount with which the card was sold.
    pub initial: Money,
    /// The time at which the card was created.
    pub created_at: Timestamp,
}

impl GiftCard {
    /// Whether both were created by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        self.initial == other.initial
    }

    /// The card as it was when it was created.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { balance: self.initial, ..self.clone() }
    }
}

/// The use of a gift card by one order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GiftCardEntry {
    /// The card.
    pub code: GiftCardCode,
    /// The order.
    pub order_id: OrderId,
    /// The amount that the order took.
    pub amount: Money,
    /// The time at which the order was placed.
    pub at: Timestamp,
    /// `captured`, or `refunded` if the order was cancelled.
    pub status: PaymentStatus,
    /// The part of `amount` that went back to the card before, in minor units: units of the order were cancelled or
    /// returned.
    #[serde(default, skip_serializing_if = "super::stock::is_zero")]
    pub returned: i64,
}

impl GiftCardEntry {
    /// The amount that the order still has from the card, in minor units.
    pub fn taken(&self) -> i64 {
        if self.status == PaymentStatus::Captured { self.amount.amount() - self.returned } else { 0 }
    }
}
