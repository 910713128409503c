//! Orders, their lines and their flags.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{CustomerId, DiscountCode, KeyPart, Money, OrderId, ProductId, Quantity, RequestHash, Timestamp};

use super::stock::is_zero;
use super::{Invoice, Payment};

#[cfg(test)]
pub(super) mod tests;

/// An order's header. `total` is `subtotal` less `discount`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub status: OrderStatus,
    pub placed_at: Timestamp,
    /// The time at which the status was last written. Absent in orders from before this attribute existed: see
    /// [`last_change`](Order::last_change).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
    /// The number of times the header was written.
    pub version: u64,
    /// The sum of the lines.
    pub subtotal: Money,
    /// The amount that the discount code takes off.
    pub discount: Money,
    /// The discount code, if this order counts as one of the code's uses. A cancellation gives that use back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_code: Option<DiscountCode>,
    /// The discount code, if its uses are unlimited and not counted. It is a separate attribute because the last
    /// release gives a use back for every cancelled order with a `discountCode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted_code: Option<DiscountCode>,
    /// The amount to pay.
    pub total: Money,
    /// The hash of the request, which distinguishes a repeated request from a different one with the same key.
    pub request_hash: RequestHash,
    /// The number of lines, which detects a read that saw only a part of the transaction that placed the order.
    pub line_count: u8,
    /// The number of units of all lines together. 0 in orders from before this attribute existed: they never count as
    /// [open](OrderStatus::is_open).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub units: u32,
    /// The order's shard in the list of its status. It is stored so that a change of the number of shards moves no
    /// order.
    pub shard: u8,
    /// The cancellation, if the order is cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<Cancellation>,
}

impl Order {
    /// The discount code, whether or not this order counts as one of its uses.
    pub fn code(&self) -> Option<&DiscountCode> {
        self.discount_code.as_ref().or(self.uncounted_code.as_ref())
    }

    /// The time at which the order was placed or its status last changed. Its counts have not changed since.
    pub fn last_change(&self) -> Timestamp {
        self.changed_at.unwrap_or(self.placed_at)
    }
}

/// The cancellation of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancellation {
    /// The time of the cancellation.
    pub at: Timestamp,
    /// The reason in words, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The person or process that cancelled the order. Absent if the release of 2026-11-21 cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cause: Option<CancellationCause>,
}

/// The person or process that cancelled an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CancellationCause {
    /// The customer.
    Customer,
    /// The shop's staff.
    Staff,
    /// The shop itself, because the order was not paid in time.
    Unpaid,
}

/// The status of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderStatus {
    /// The order is placed, and its card payment is authorized but not captured.
    Pending,
    Paid,
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
                | (Self::Paid, Self::Shipped)
                | (Self::Shipped, Self::Delivered)
                | (Self::Pending | Self::Paid, Self::Cancelled)
        )
    }

    /// All statuses in lifecycle order: no status changes to an earlier one.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Paid, Self::Shipped, Self::Delivered, Self::Cancelled];

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

/// One line of an order: a snapshot of the product when it was ordered. Later changes of the product do not affect it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderLine {
    /// The product.
    pub product_id: ProductId,
    /// The product's name when it was ordered.
    pub name: String,
    /// The number of units.
    pub quantity: Quantity,
    /// The product's price when it was ordered.
    pub unit_price: Money,
    /// `quantity` times `unitPrice`.
    pub amount: Money,
}

/// An order line as an item of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderItem {
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub placed_at: Timestamp,
    /// The line's shard in the list of its product. It is stored so that a change of the number of shards moves no
    /// line.
    pub shard: u8,
    #[serde(flatten)]
    pub line: OrderLine,
}

/// A flag on an order that the shop's staff should look at. The item exists only while the order is flagged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderFlag {
    /// The order.
    pub order_id: OrderId,
    /// The reason.
    pub reason: String,
    /// The time at which the order was flagged.
    pub flagged_at: Timestamp,
}

/// An order with its lines, its invoice and its flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeOrder {
    /// The header.
    pub order: Order,
    /// The lines, sorted by product id.
    pub lines: Vec<OrderLine>,
    pub invoice: Invoice,
    pub flag: Option<OrderFlag>,
}

impl WholeOrder {
    /// Whether the states of the payments match the order's status. If not, the read is torn: header and invoice were
    /// read on different sides of a transaction.
    pub fn is_consistent(&self) -> bool {
        self.invoice.payments.iter().all(|payment| payment.fits(self.order.status))
    }

    /// The order as it was when it was placed: the answer to a repeated request.
    #[must_use]
    pub fn as_placed(&self) -> Self {
        let payments: Vec<Payment> = self.invoice.payments.iter().map(Payment::as_placed).collect();
        Self {
            order: Order {
                status: OrderStatus::when_placed(&payments),
                changed_at: Some(self.order.placed_at),
                version: 1,
                cancellation: None,
                ..self.order.clone()
            },
            lines: self.lines.clone(),
            invoice: Invoice { payments, ..self.invoice.clone() },
            flag: None,
        }
    }
}
