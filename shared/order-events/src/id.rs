//! The events' ids.

use key_schema::value::{CustomerId, InvoiceId, OrderId, ProductId, ReturnId, ShipmentId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Failure;

/// The namespace of the events' ids (UUIDv5, RFC 9562). If it changed, events that are published again would have new
/// ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x1b0e_7c64_52fd_4a0a_8c3b_2d96_4f1e_a7d8);

/// An event's own id: the same for every copy of the event, and for no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = "uuid", example = "9ea45d61-8e1e-597f-8ec9-0932f86e9492")]
pub struct EventId(String);

impl EventId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of placing an order, which happens once.
    pub(crate) fn of_placing(order: &OrderId) -> Self {
        Self::named(&format!("OrderPlaced#{order}"))
    }

    pub(crate) fn of_change(order: &OrderId, version: u64) -> Self {
        Self::named(&format!("OrderStatusChanged#{order}#{version}"))
    }

    /// The id of crediting an amount, by an order's change to this version.
    pub(crate) fn of_allowance(order: &OrderId, version: u64) -> Self {
        Self::named(&format!("AmountCredited#{order}#{version}"))
    }

    /// The id of cancelling units, by an order's change to this version.
    pub(crate) fn of_cancelled_units(order: &OrderId, version: u64) -> Self {
        Self::named(&format!("UnitsCancelled#{order}#{version}"))
    }

    /// The id of a capture of an invoice's card payment, before which `so_far` was captured.
    pub(crate) fn of_capture(invoice: &InvoiceId, so_far: i64) -> Self {
        Self::of_sum("PaymentCaptured", invoice, so_far)
    }

    /// The id of authorizing an invoice's card payment, which happens once for each attempt.
    pub(crate) fn of_authorization(invoice: &InvoiceId, attempt: u32) -> Self {
        Self::named(&format!("PaymentAuthorized#{invoice}#{attempt}"))
    }

    pub(crate) fn of_failure(invoice: &InvoiceId, attempt: u32, reason: Failure) -> Self {
        Self::named(&format!("PaymentFailed#{invoice}#{attempt}#{reason:?}"))
    }

    /// The id of an order's expiry, which happens once.
    pub(crate) fn of_expiry(order: &OrderId) -> Self {
        Self::named(&format!("OrderExpired#{order}"))
    }

    pub(crate) fn of_payment_due(order: &OrderId, since: Timestamp) -> Self {
        Self::named(&format!("PaymentDue#{order}#{since}"))
    }

    /// The id of an order's rejection at this time. An order that is requested again may be rejected again.
    pub(crate) fn of_rejection(order: &OrderId, at: Timestamp) -> Self {
        Self::named(&format!("OrderRejected#{order}#{at}"))
    }

    /// The id of a refund becoming due, before which `so_far` was due or refunded.
    pub(crate) fn of_refund_due(invoice: &InvoiceId, so_far: i64) -> Self {
        Self::of_sum("RefundDue", invoice, so_far)
    }

    /// The id of a refund, before which `so_far` was refunded.
    pub(crate) fn of_refund(invoice: &InvoiceId, so_far: i64) -> Self {
        Self::of_sum("RefundMade", invoice, so_far)
    }

    /// The id of a refund's failure, before which `so_far` had failed.
    pub(crate) fn of_failed_refund(invoice: &InvoiceId, so_far: i64) -> Self {
        Self::of_sum("RefundFailed", invoice, so_far)
    }

    /// The id of a dispute's change, which the look with this number saw.
    pub(crate) fn of_dispute(invoice: &InvoiceId, look: u32) -> Self {
        Self::named(&format!("PaymentDisputed#{invoice}#{look}"))
    }

    /// The id of a change of a sum that only grows, which was `so_far`.
    fn of_sum(kind: &str, invoice: &InvoiceId, so_far: i64) -> Self {
        Self::named(&format!("{kind}#{invoice}#{so_far}"))
    }

    /// The id of the request of a return, which happens once.
    pub(crate) fn of_return(id: &ReturnId) -> Self {
        Self::named(&format!("ReturnRequested#{id}"))
    }

    /// The id of a shipment, which is made once.
    pub(crate) fn of_shipment(id: &ShipmentId) -> Self {
        Self::named(&format!("ItemsShipped#{id}"))
    }

    /// The id of the delivery of a shipment, which happens once.
    pub(crate) fn of_delivery(id: &ShipmentId) -> Self {
        Self::named(&format!("ShipmentDelivered#{id}"))
    }

    /// The id of the receipt of a return, which happens once.
    pub(crate) fn of_receipt(id: &ReturnId) -> Self {
        Self::named(&format!("ReturnReceived#{id}"))
    }

    /// The id of a product's change to this version. The versions of a product that is removed and created again start
    /// at 1 again, so the second of the write is a part of the id.
    pub(crate) fn of_product_change(product: &ProductId, version: u64, written_at: Timestamp) -> Self {
        Self::named(&format!("ProductChanged#{product}#{version}#{}", written_at.as_second()))
    }

    /// The id of a customer's erasure, which happens once.
    pub(crate) fn of_erasure(customer: &CustomerId) -> Self {
        Self::named(&format!("CustomerErased#{customer}"))
    }

    pub(crate) fn of_product_removal(product: &ProductId, version: u64, written_at: Timestamp) -> Self {
        Self::named(&format!("ProductRemoved#{product}#{version}#{}", written_at.as_second()))
    }

    /// The id of a change with this name. Ids in the name contain no `#`, so different changes have different names.
    fn named(change: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, change.as_bytes()).to_string())
    }
}
