//! Gift cards.

use serde::{Deserialize, Serialize};

use super::PaymentStatus;
use super::stock::is_zero;
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
    /// The first moment at which no order can spend the card any more. Without it, the card does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Whether staff have blocked the card: no order can spend it. The transaction of an order checks that the attribute is
    /// absent, so it is not written if it is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// The number of times that staff have written the card. Orders that spend the card do not count.
    pub version: u64,
}

impl GiftCard {
    /// A new card with this amount, which does not expire.
    pub fn new(code: GiftCardCode, initial: Money, created_at: Timestamp) -> Self {
        Self { code, balance: initial, initial, created_at, valid_until: None, blocked: false, version: 1 }
    }

    /// Whether an order that is placed now may spend the card.
    pub fn is_spendable(&self, now: Timestamp) -> bool {
        !self.blocked && self.valid_until.is_none_or(|until| now < until)
    }

    /// Whether both were created by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        let request = |card: &Self| (card.initial, card.valid_until);
        request(self) == request(other)
    }

    /// The card as it was when it was created.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { balance: self.initial, blocked: false, version: 1, ..self.clone() }
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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returned: i64,
}

impl GiftCardEntry {
    /// The amount that the order still has from the card, in minor units.
    pub fn taken(&self) -> i64 {
        if self.status == PaymentStatus::Captured { self.amount.amount() - self.returned } else { 0 }
    }
}
