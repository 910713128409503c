//! Invoices and the payments in them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{CustomerId, GiftCardCode, InvoiceId, Money, OrderId, Timestamp};

/// The invoice of an order. The amounts of its payments add up to its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// One payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    },
}

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentStatus {
    /// Promised by the bank, not yet taken.
    Authorized,
    /// Taken.
    Captured,
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

    /// This payment given back.
    #[must_use]
    pub fn refunded(mut self) -> Self {
        let (Self::GiftCard { status, .. } | Self::Card { status, .. }) = &mut self;
        *status = PaymentStatus::Refunded;
        self
    }

    /// This payment as it stood when the order was placed.
    #[must_use]
    pub fn as_placed(&self) -> Self {
        match self {
            Self::GiftCard { code, amount, .. } => {
                Self::GiftCard { code: code.clone(), amount: *amount, status: PaymentStatus::Captured }
            }
            Self::Card { amount, .. } => {
                Self::Card { amount: *amount, status: PaymentStatus::Authorized, reference: None }
            }
        }
    }
}
