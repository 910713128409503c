//! Invoices and the payments in them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderStatus;
use crate::value::{CustomerId, GiftCardCode, InvoiceId, Money, OrderId, Timestamp};

/// The invoice of an order. The amounts of its payments add up to its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    /// Which invoice.
    pub invoice_id: InvoiceId,
    /// Of which order.
    pub order_id: OrderId,
    /// For whom.
    pub customer_id: CustomerId,
    /// When.
    pub issued_at: Timestamp,
    /// What is to be paid.
    pub amount: Money,
    /// How it is paid: gift cards first, the rest by card.
    pub payments: Vec<Payment>,
}

/// The money that moved by a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// What the shop has received.
    pub received: Money,
    /// What it has given back.
    pub returned: Money,
    /// What it still has to give back.
    pub due: Money,
}

/// One payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Payment {
    /// Taken off a gift card.
    GiftCard {
        /// Which.
        code: GiftCardCode,
        /// How much.
        amount: Money,
        /// Where it stands.
        status: PaymentStatus,
    },
    /// Charged to a bank card.
    Card {
        /// How much.
        amount: Money,
        /// Where it stands.
        status: PaymentStatus,
        /// What the bank calls it, once captured.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// What became of it when its order was cancelled. Absent if the order was not, and if the release of 2026-11-21
        /// cancelled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settlement: Option<Settlement>,
    },
}

/// Where a payment stands, as it is stored. [`PaymentState`] tells more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentStatus {
    /// Promised by the bank, not yet taken.
    Authorized,
    /// Taken.
    Captured,
    /// The order was cancelled. A gift card has got its money back; what became of a card payment is its
    /// [`Settlement`]. The value is kept because the last release reads it.
    Refunded,
}

/// What becomes of a card payment after its order was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Settlement {
    /// The bank has not taken it.
    Voided,
    /// The bank has taken it, and the customer is to get it back.
    RefundDue,
    /// The customer has got it back.
    Refunded {
        /// What the bank calls the refund.
        reference: String,
    },
}

/// Where a payment stands. None returns to a state that it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentState {
    /// Promised by the bank, not yet taken.
    Authorized,
    /// Taken.
    Captured,
    /// Never taken: the order was cancelled before.
    Voided,
    /// Taken, and to be given back: the order is cancelled.
    RefundDue,
    /// Given back.
    Refunded,
}

impl Payment {
    /// The amount.
    pub fn amount(&self) -> Money {
        match self {
            Self::GiftCard { amount, .. } | Self::Card { amount, .. } => *amount,
        }
    }

    /// Where it stands.
    ///
    /// The release of 2026-11-21 called every payment of a cancelled order `refunded`, whether or not the bank had taken
    /// it, and told nobody to give it back. It had been taken if it has a reference; then it counts as due until
    /// somebody confirms the refund.
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

    /// Whether a payment of an order of this status may stand where this one does.
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

    /// This payment once its order is cancelled. A gift card gets its money back at once; a card payment that was taken
    /// is to be given back, one that was not is void.
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

    /// What has come in by this payment, what has gone back to the customer, and what still has to.
    pub fn balance(&self) -> Balance {
        let (amount, zero) = (self.amount(), Money::zero(self.amount().currency()));
        match self.state() {
            PaymentState::Authorized | PaymentState::Voided => Balance { received: zero, returned: zero, due: zero },
            PaymentState::Captured => Balance { received: amount, returned: zero, due: zero },
            PaymentState::RefundDue => Balance { received: amount, returned: zero, due: amount },
            PaymentState::Refunded => Balance { received: amount, returned: amount, due: zero },
        }
    }

    /// This payment as it stood when the order was placed.
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
