//! The status of an order, and the changes that it allows.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Payment;
use single_table::KeyPart;

/// The status of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderStatus {
    /// The order is placed, and its card payment is authorized but not captured.
    Pending,
    Paid,
    /// Staff pack the order, or have shipped a part of it. The customer cannot cancel any more.
    Packing,
    Shipped,
    Delivered,
    /// The order is cancelled, and what it took from stocks, discount code and gift cards was given back.
    Cancelled,
}

impl OrderStatus {
    /// Whether an order may change from this status to `next` in one step.
    pub fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Pending, Self::Paid)
                | (Self::Paid, Self::Packing)
                | (Self::Paid | Self::Packing, Self::Shipped)
                // Everything that was shipped is delivered, and staff cancel the rest.
                | (Self::Packing | Self::Shipped, Self::Delivered)
                | (Self::Pending | Self::Paid | Self::Packing, Self::Cancelled)
        )
    }

    /// All statuses in lifecycle order: no status changes to an earlier one.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Paid, Self::Packing, Self::Shipped, Self::Delivered, Self::Cancelled];

    /// Whether this is a terminal status: an order in it never changes its status again.
    pub fn is_terminal(self) -> bool {
        !Self::ALL.into_iter().any(|next| self.may_become(next))
    }

    /// Whether the units of an order in this status are open: they reserve stock and wait for payment.
    pub fn is_open(self) -> bool {
        self == Self::Pending
    }

    /// Whether an order in this status may have been in `before`.
    pub fn may_have_been(self, before: Self) -> bool {
        before.may_become(self) || Self::ALL.into_iter().any(|next| before.may_become(next) && self.may_have_been(next))
    }

    /// The status of a new order: pending if it has a card payment, paid otherwise.
    pub fn when_placed(payments: &[Payment]) -> Self {
        if payments.iter().any(|payment| matches!(payment, Payment::Card { .. })) { Self::Pending } else { Self::Paid }
    }
}

impl fmt::Display for OrderStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "PENDING",
            Self::Paid => "PAID",
            Self::Packing => "PACKING",
            Self::Shipped => "SHIPPED",
            Self::Delivered => "DELIVERED",
            Self::Cancelled => "CANCELLED",
        })
    }
}

impl KeyPart for OrderStatus {
    fn write_to(&self, key: &mut String) {
        key.push_str(&self.to_string());
    }
}
