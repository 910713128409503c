//! Orders, their lines and their flags.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{CustomerId, DiscountCode, KeyPart, Money, OrderId, ProductId, Quantity, RequestHash, Timestamp};

use super::{Invoice, Payment};

#[cfg(test)]
pub(super) mod tests;

/// An order's header. `total` is `subtotal` less `discount`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// Where it stands.
    pub status: OrderStatus,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When its status was last written: [`last_change`](Order::last_change). Not known of an order from before
    /// this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
    /// How often the header was written.
    pub version: u64,
    /// The sum of the lines.
    pub subtotal: Money,
    /// What the discount code takes off.
    pub discount: Money,
    /// The discount code, if this order is counted among the code's uses. A cancellation takes that use back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_code: Option<DiscountCode>,
    /// The discount code, if this order is not counted: the code may be used any number of times. An attribute of
    /// its own, because the last release takes a use back for every order that has a `discountCode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted_code: Option<DiscountCode>,
    /// What is to be paid.
    pub total: Money,
    /// What the customer asked for: tells a repeated request from another one under the same key.
    pub request_hash: RequestHash,
    /// How many lines it has: tells a whole order from one that is just being written.
    pub line_count: u8,
    /// The shard of the status index that holds it. Kept, so that another number of shards moves no order.
    pub shard: u8,
    /// When and why it was called off, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<Cancellation>,
}

impl Order {
    /// The discount code, whether or not this order is counted among its uses.
    pub fn code(&self) -> Option<&DiscountCode> {
        self.discount_code.as_ref().or(self.uncounted_code.as_ref())
    }

    /// When it was placed or its status last changed: whatever is counted of the order, from then on it stays.
    pub fn last_change(&self) -> Timestamp {
        self.changed_at.unwrap_or(self.placed_at)
    }
}

/// When and why an order was called off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancellation {
    /// When.
    pub at: Timestamp,
    /// Why, if somebody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who or what cancelled it. Not known of an order that the release of 2026-11-21 cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cause: Option<CancellationCause>,
}

/// Who or what cancelled an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CancellationCause {
    /// The customer.
    Customer,
    /// The shop's staff.
    Staff,
    /// It was not paid in time.
    Unpaid,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderStatus {
    /// Placed; the card part is authorized.
    Pending,
    /// Paid in full.
    Paid,
    /// On its way.
    Shipped,
    /// Arrived.
    Delivered,
    /// Called off; everything it took was put back.
    Cancelled,
}

impl OrderStatus {
    /// Whether an order of this status may become one of that status. There is no other way.
    pub fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Pending, Self::Paid)
                | (Self::Paid, Self::Shipped)
                | (Self::Shipped, Self::Delivered)
                | (Self::Pending | Self::Paid, Self::Cancelled)
        )
    }

    /// Every status, in the order of the way: none becomes one that comes before it.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Paid, Self::Shipped, Self::Delivered, Self::Cancelled];

    /// Whether an order of this status stays in it for ever.
    pub fn is_terminal(self) -> bool {
        !Self::ALL.into_iter().any(|next| self.may_become(next))
    }

    /// Whether an order that has this status may have had that one before.
    pub fn may_have_been(self, before: Self) -> bool {
        before.may_become(self) || Self::ALL.into_iter().any(|next| before.may_become(next) && self.may_have_been(next))
    }

    /// The status of a new order: paid, unless something is left for the card.
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

/// One line of an order: a snapshot of the product as it was sold, which later changes of the product leave alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderLine {
    /// The product.
    pub product_id: ProductId,
    /// Its name then.
    pub name: String,
    /// How many.
    pub quantity: Quantity,
    /// Its price then.
    pub unit_price: Money,
    /// `quantity` times `unitPrice`.
    pub amount: Money,
}

/// An order's line as an item of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderItem {
    /// The order it belongs to.
    pub order_id: OrderId,
    /// Whose order.
    pub customer_id: CustomerId,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// The shard of the product's list that holds it. Kept, so that another number of shards moves no line.
    pub shard: u8,
    /// The line.
    #[serde(flatten)]
    pub line: OrderLine,
}

/// Somebody in the shop wants to look at this order. Exists only while the order is flagged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderFlag {
    /// The order.
    pub order_id: OrderId,
    /// Why.
    pub reason: String,
    /// Since when.
    pub flagged_at: Timestamp,
}

/// An order with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeOrder {
    /// The header.
    pub order: Order,
    /// The lines, by product id.
    pub lines: Vec<OrderLine>,
    /// The invoice.
    pub invoice: Invoice,
    /// The flag, while there is one.
    pub flag: Option<OrderFlag>,
}

impl WholeOrder {
    /// Whether the payments stand where those of an order of this status may. If not, the header was read before a
    /// transaction and the invoice after it, or the other way round.
    pub fn is_consistent(&self) -> bool {
        self.invoice.payments.iter().all(|payment| payment.fits(self.order.status))
    }

    /// The order as it was when it was placed, whatever has happened to it since: what a repeated request is answered.
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
