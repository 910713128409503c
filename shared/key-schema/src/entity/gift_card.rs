//! Gift cards.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::PaymentStatus;
use crate::value::{GiftCardCode, Money, OrderId, Timestamp};

/// A gift card. `balance` plus the amounts of its captured entries is always `initial`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GiftCard {
    /// The code on the card.
    pub code: GiftCardCode,
    /// What is left on it.
    pub balance: Money,
    /// What it was sold with.
    pub initial: Money,
    /// When it was made.
    pub created_at: Timestamp,
}

impl GiftCard {
    /// Whether `other` was made by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        self.initial == other.initial
    }

    /// The card as it was when it was made.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { balance: self.initial, ..self.clone() }
    }
}

/// What one order took off a gift card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GiftCardEntry {
    /// The card.
    pub code: GiftCardCode,
    /// The order.
    pub order_id: OrderId,
    /// What it took.
    pub amount: Money,
    /// When.
    pub at: Timestamp,
    /// Captured, or refunded when the order was called off.
    pub status: PaymentStatus,
}
