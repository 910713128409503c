//! The events of card payments.

use key_schema::entity::Dispute;
use key_schema::value::{CustomerId, InvoiceId, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;

/// The payment provider reserved the amount on the customer's account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentAuthorized {
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
    /// The reserved amount.
    pub amount: Money,
    /// The provider's reference for the payment.
    pub reference: String,
}

/// A payment failed: it was declined, its authorization expired, or it came too late. Several declined cards of one
/// payment have one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentFailed {
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
    /// The amount to pay.
    pub amount: Money,
    /// The provider's reference for the payment.
    pub reference: String,
    /// The reason.
    pub reason: Failure,
}

/// The reason for which a payment failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Failure {
    /// The provider declined the card. The customer may try again.
    Declined,
    /// The authorization ended before it was captured. The customer may pay again.
    Expired,
    /// The amount was reserved after the order was cancelled. The shop releases it.
    TooLate,
}

/// An order was cancelled because it was not paid in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderExpired {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// The order.
    pub order_id: OrderId,
    /// The customer.
    pub customer_id: CustomerId,
    /// The amount that was not paid.
    pub amount: Money,
}

/// The shop has to act on an order's payment. The function `settle-payments` consumes this event, and asks the provider
/// to capture, void or refund the payment, as the invoice says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDue {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// The order.
    pub order_id: OrderId,
    /// The time since which the payment is due.
    pub since: Timestamp,
}

/// The customer's bank demands a payment back, or such a dispute is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDisputed {
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
    /// The amount that the bank has taken back. Zero if it only asks, or if the shop has won.
    pub amount: Money,
    /// The provider's reference for the payment.
    pub reference: String,
    /// The state of the dispute.
    pub state: Dispute,
}
