//! The events of money that goes back to customers.

use key_schema::value::{CustomerId, InvoiceId, Money, OrderId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;

/// Money is to be given back to a customer: the order is cancelled, and the bank has taken its card payment. It stays due
/// until `RefundMade`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundDue {
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
    /// Whether the bank took the payment after the order was cancelled. Then no `PaymentCaptured` was sent for it.
    pub captured_after_cancellation: bool,
}

/// A customer has got back what was due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundMade {
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
    /// What the bank calls the refund.
    pub reference: String,
}
