//! The events of refunds.

use key_schema::value::{CustomerId, InvoiceId, Money, OrderId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;

/// A refund is due: an order is cancelled, and the bank captured its card payment. It stays due until `RefundMade`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundDue {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// The invoice.
    pub invoice_id: InvoiceId,
    /// The invoice's order.
    pub order_id: OrderId,
    /// The customer.
    pub customer_id: CustomerId,
    /// The amount to refund.
    pub amount: Money,
    /// The bank's reference for the payment, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reference: Option<String>,
    /// Whether the bank captured the payment after the order was cancelled. Then there was no `PaymentCaptured` event.
    pub captured_after_cancellation: bool,
}

/// A refund was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundMade {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// The invoice.
    pub invoice_id: InvoiceId,
    /// The invoice's order.
    pub order_id: OrderId,
    /// The customer.
    pub customer_id: CustomerId,
    /// The amount refunded.
    pub amount: Money,
    /// The bank's reference for the refund.
    pub reference: String,
}
