//! Invoices and their payments.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderStatus;
use crate::value::{CustomerId, GiftCardCode, InvoiceId, Money, OrderId, Timestamp};

/// The invoice of an order. The amounts of its payments add up to its amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    pub invoice_id: InvoiceId,
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub issued_at: Timestamp,
    /// The amount to pay, which is the order's total.
    pub amount: Money,
    /// The payments: gift cards first, then at most one card payment for the rest.
    pub payments: Vec<Payment>,
}

/// The money that a payment moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The amount that the shop received.
    pub received: Money,
    /// The amount that the shop returned.
    pub returned: Money,
    /// The amount that the shop still has to return.
    pub due: Money,
}

/// One payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Payment {
    /// A payment with a gift card.
    GiftCard { code: GiftCardCode, amount: Money, status: PaymentStatus },
    /// A payment with a bank card.
    Card {
        amount: Money,
        status: PaymentStatus,
        /// The bank's reference for the payment, once it is captured.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The settlement of a cancelled order's payment. Absent if the order is not cancelled, or if the release of
        /// 2026-11-21 cancelled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settlement: Option<Settlement>,
    },
}

/// The status of a payment as it is stored. [`PaymentState`] is more precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentStatus {
    /// The bank has authorized the payment, but not captured it.
    Authorized,
    /// The payment is captured.
    Captured,
    /// The order was cancelled. A gift card has its money back; for a card payment, [`Settlement`] says more. The value
    /// must stay, because the last release reads it.
    Refunded,
}

/// The settlement of a card payment after its order was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Settlement {
    /// The bank had not captured the payment.
    Voided,
    /// The bank captured the payment, and must refund it.
    RefundDue,
    /// The bank refunded the payment.
    Refunded {
        /// The bank's reference for the refund.
        reference: String,
    },
}

/// The state of a payment. A payment never returns to an earlier state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentState {
    /// The bank has authorized the payment, but not captured it.
    Authorized,
    /// The payment is captured.
    Captured,
    /// The order was cancelled before the payment was captured.
    Voided,
    /// The order is cancelled, and the captured payment must be refunded.
    RefundDue,
    /// The payment was refunded.
    Refunded,
}

impl Payment {
    pub fn amount(&self) -> Money {
        match self {
            Self::GiftCard { amount, .. } | Self::Card { amount, .. } => *amount,
        }
    }

    /// The state.
    ///
    /// The release of 2026-11-21 marked every payment of a cancelled order as `refunded`, captured or not, and
    /// published no event for the refund. If such a payment has a reference, it was captured, and counts as due until
    /// its refund is confirmed.
    pub fn state(&self) -> PaymentState {
        match self {
            Self::GiftCard { status: PaymentStatus::Refunded, .. } => PaymentState::Refunded,
            Self::GiftCard { status: PaymentStatus::Authorized, .. }
            | Self::Card { status: PaymentStatus::Authorized, .. } => PaymentState::Authorized,
            Self::GiftCard { status: PaymentStatus::Captured, .. }
            | Self::Card { status: PaymentStatus::Captured, .. } => PaymentState::Captured,
            Self::Card { status: PaymentStatus::Refunded, settlement, reference, .. } => match settlement {
                Some(Settlement::Refunded { .. }) => PaymentState::Refunded,
                Some(Settlement::RefundDue) => PaymentState::RefundDue,
                None if reference.is_some() => PaymentState::RefundDue,
                Some(Settlement::Voided) | None => PaymentState::Voided,
            },
        }
    }

    /// Whether an order in this status may have a payment in this state.
    pub fn fits(&self, order: OrderStatus) -> bool {
        let state = self.state();
        match (order, self) {
            (OrderStatus::Cancelled, Self::GiftCard { .. }) => state == PaymentState::Refunded,
            (OrderStatus::Cancelled, Self::Card { .. }) => {
                matches!(state, PaymentState::Voided | PaymentState::RefundDue | PaymentState::Refunded)
            }
            (OrderStatus::Pending, Self::Card { .. }) => state == PaymentState::Authorized,
            _ => state == PaymentState::Captured,
        }
    }

    /// The payment after the cancellation of its order. A gift card is refunded at once. A card payment becomes due for
    /// refund if it was captured, and void if not.
    #[must_use]
    pub fn cancelled(mut self) -> Self {
        let is_captured = self.state() == PaymentState::Captured;
        match &mut self {
            Self::GiftCard { status, .. } => *status = PaymentStatus::Refunded,
            Self::Card { status, settlement, .. } => {
                *status = PaymentStatus::Refunded;
                *settlement = Some(if is_captured { Settlement::RefundDue } else { Settlement::Voided });
            }
        }
        self
    }

    /// The amounts that this payment brought in, that were returned, and that are due.
    pub fn balance(&self) -> Balance {
        let (amount, zero) = (self.amount(), Money::zero(self.amount().currency()));
        match self.state() {
            PaymentState::Authorized | PaymentState::Voided => Balance { received: zero, returned: zero, due: zero },
            PaymentState::Captured => Balance { received: amount, returned: zero, due: zero },
            PaymentState::RefundDue => Balance { received: amount, returned: zero, due: amount },
            PaymentState::Refunded => Balance { received: amount, returned: amount, due: zero },
        }
    }

    /// The payment as it was when the order was placed.
    #[must_use]
    pub fn as_placed(&self) -> Self {
        match self {
            Self::GiftCard { code, amount, .. } => {
                Self::GiftCard { code: code.clone(), amount: *amount, status: PaymentStatus::Captured }
            }
            Self::Card { amount, .. } => {
                Self::Card { amount: *amount, status: PaymentStatus::Authorized, reference: None, settlement: None }
            }
        }
    }
}
