//! The events of refunds.

use key_schema::value::{CustomerId, InvoiceId, Money, OrderId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;

/// A refund is due: the bank captured more of a card payment than the shop wants, because the order is cancelled, units
/// were cancelled or returned, an amount is given back, or the order was paid twice. It stays due until `RefundMade`.
/// The amounts of all `RefundDue` of an order are what was refunded and what is still due. (If units are cancelled
/// while the provider captures the payment, `PaymentCaptured` tells of all that came, and there is no `RefundDue` for
/// these units.)
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
    /// The amount that became due by this change.
    pub amount: Money,
    /// The bank's reference for the payment, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reference: Option<String>,
    /// Whether the bank captured this amount when the shop did not want it any more, after the order was cancelled or a
    /// second time. Then there was no `PaymentCaptured` event.
    pub captured_after_cancellation: bool,
}

/// A refund was made, of the whole payment or of a part of it. If Till sees a late capture together with its refund,
/// there was no `RefundDue`.
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
    /// The bank's reference for the refund, or the provider's for the payment.
    pub reference: String,
}

/// A refund failed at the payment provider after it was made: mostly because the card's account is closed. The shop has
/// the money again, and staff refund it by another way. `RefundDue` tells when the amount is due again: at once, or at the
/// end of a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundFailed {
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
    /// The amount that came back.
    pub amount: Money,
    /// The provider's reference for the payment.
    pub reference: String,
}
