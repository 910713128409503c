//! The events of orders and their payments.

use key_schema::entity::{Order, OrderLine, OrderStatus, QueuedOrder, Refusal, Rejection};
use key_schema::value::{CustomerId, InvoiceId, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;
use crate::event::LAYOUT_VERSION;

/// An order was placed. It is the order's version 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderPlaced {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// When.
    pub placed_at: Timestamp,
    /// Pending while the card is to be charged, or paid.
    pub status: OrderStatus,
    /// What is to be paid.
    pub total: Money,
    /// How many lines the order has.
    pub line_count: u8,
    /// The lines, by product.
    pub lines: Vec<OrderLine>,
}

/// An order went from one status to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderStatusChanged {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// The status before.
    pub from: OrderStatus,
    /// The status from then on.
    pub to: OrderStatus,
    /// The order's version from then on: a change with a greater one came later.
    pub version: u64,
}

/// The bank has taken the card's part of an invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentCaptured {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// Of which invoice.
    pub invoice_id: InvoiceId,
    /// Of which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// How much.
    pub amount: Money,
    /// What the bank calls the payment, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reference: Option<String>,
}

/// An order that was accepted, to be placed later, could not be placed when its turn came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderRejected {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// When it was accepted.
    pub queued_at: Timestamp,
    /// When it was rejected.
    pub rejected_at: Timestamp,
    /// Why: the last part of the problem's type, as in `/problems/out-of-stock`. `GET /orders/{orderId}` tells the rest.
    pub reason: String,
}

impl OrderRejected {
    /// The event of an order that was refused, if it was.
    pub(crate) fn new(queued: QueuedOrder) -> Option<Self> {
        let Refusal { at, rejection } = queued.refusal?;
        Some(Self {
            id: EventId::of_rejection(&queued.order_id, at),
            layout_version: LAYOUT_VERSION,
            order_id: queued.order_id,
            customer_id: queued.customer_id,
            queued_at: queued.queued_at,
            rejected_at: at,
            reason: reason(&rejection).to_owned(),
        })
    }
}

/// Without the codes that may be in the rejection: whoever has a gift card's code can spend it.
fn reason(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::UnknownCustomer | Rejection::UnknownProduct { .. } => "not-found",
        Rejection::MixedCurrencies { .. } | Rejection::TooExpensive => "validation",
        Rejection::OutOfStock { .. } => "out-of-stock",
        Rejection::PriceChanged { .. } => "price-changed",
        Rejection::DiscountInvalid { .. } => "discount-invalid",
        Rejection::DiscountExhausted { .. } => "discount-exhausted",
        Rejection::GiftCardInvalid { .. } => "gift-card-invalid",
        Rejection::GiftCardBalance { .. } => "gift-card-balance",
        Rejection::KeyReused => "idempotency-key-reused",
    }
}

/// An order does not have as many lines as its header says. Lines are written with the header and never change, so a
/// strongly consistent read of them says the same again.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the order has {found} lines and not {expected}")]
pub struct MissingLines {
    /// How many were read.
    pub found: usize,
    /// How many there must be.
    pub expected: u8,
}

impl OrderPlaced {
    /// The event of an order that was placed with these lines.
    ///
    /// # Errors
    /// These are not all of its lines.
    pub fn new(order: Order, lines: Vec<OrderLine>) -> Result<Self, MissingLines> {
        if lines.len() != usize::from(order.line_count) {
            return Err(MissingLines { found: lines.len(), expected: order.line_count });
        }
        Ok(Self {
            id: EventId::of_placing(&order.order_id),
            layout_version: LAYOUT_VERSION,
            order_id: order.order_id,
            customer_id: order.customer_id,
            placed_at: order.placed_at,
            status: order.status,
            total: order.total,
            line_count: order.line_count,
            lines,
        })
    }
}
