//! The events of card payments.

use key_schema::entity::Dispute;
use key_schema::value::{Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;

event! {
    /// The payment provider reserved the amount on the customer's account.
    PaymentAuthorized of invoice {
        /// The reserved amount.
        pub amount: Money,
        /// The provider's reference for the payment.
        pub reference: String,
    }

    /// A payment failed: it was declined, its authorization expired, or it came too late. Several declined cards of one
    /// payment have one event.
    PaymentFailed of invoice {
        /// The amount to pay.
        pub amount: Money,
        /// The provider's reference for the payment.
        pub reference: String,
        /// The reason.
        pub reason: Failure,
    }
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

event! {
    /// An order was cancelled because it was not paid in time.
    OrderExpired of order {
        /// The amount that was not paid.
        pub amount: Money,
    }
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

event! {
    /// The customer's bank demands a payment back, or such a dispute is over.
    PaymentDisputed of invoice {
        /// The amount that the bank has taken back. Zero if it only asks, or if the shop has won.
        pub amount: Money,
        /// The provider's reference for the payment.
        pub reference: String,
        /// The state of the dispute.
        pub state: Dispute,
    }
}
