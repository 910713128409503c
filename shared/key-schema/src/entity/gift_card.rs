//! Gift cards.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{GiftCardCode, Money, OrderId, Timestamp};

/// A gift card. `balance` plus the amounts of its entries is always `initial`.
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
}
