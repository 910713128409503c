//! Invoices and their payments.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::stock::is_zero;
use super::{CardPayment, Order, OrderStatus, RateTax};
use crate::value::{CustomerId, GiftCardCode, InvoiceId, InvoiceNumber, Money, OrderId, Timestamp};

/// The invoice of an order. The amounts of its payments add up to its amount.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    pub invoice_id: InvoiceId,
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub issued_at: Timestamp,
    /// The amount to pay, which is the order's total.
    pub amount: Money,
    /// The taxes in the amount, a rate each, the lowest first. Empty if the lines have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taxes: Vec<RateTax>,
    /// The shard in the list of the invoices that wait for a number. Absent if the invoice has its number, or gets none.
    /// It is stored so that a change of the number of shards moves no invoice.
    pub unnumbered: Option<u8>,
    /// The number. Nothing changes it once it is given.
    pub number: Option<InvoiceNumber>,
    /// The payments: gift cards first, then at most one card payment for the rest.
    pub payments: Vec<Payment>,
    /// The number of times the payments were written: optimistic locking. The header's version does not guard them, because
    /// a look at the payment provider may change them alone.
    pub version: u64,
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
#[expect(clippy::large_enum_variant, reason = "an invoice has few payments")]
pub enum Payment {
    GiftCard {
        code: GiftCardCode,
        amount: Money,
        status: PaymentStatus,
        /// The part of `amount` that is back on the card, because units were cancelled or returned, or an amount was
        /// given back. In minor units; it only grows.
        #[serde(default, skip_serializing_if = "is_zero")]
        credited: i64,
    },
    /// A payment with a bank card, or by bank transfer.
    Card(CardPayment),
}

/// The status of a payment. [`PaymentState`] is more precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentStatus {
    /// The bank has authorized the payment, but not captured it.
    Authorized,
    /// The payment is captured.
    Captured,
    /// The order was cancelled. A gift card has its money back.
    Refunded,
}

/// The state of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaymentState {
    /// The customer has not paid yet.
    Pending,
    /// The last attempt to pay was declined. The customer may pay again.
    Declined,
    /// The amount is reserved on the customer's account, but not captured.
    Authorized,
    /// The payment is captured.
    Captured,
    /// The order was cancelled before the payment was captured, or credits left nothing to pay.
    Voided,
    /// The customer did not pay in time, or the authorization expired before it was captured.
    Expired,
    /// Money must be refunded: the order is cancelled, units were cancelled or returned, or an amount is given back. Or
    /// the payment came twice.
    RefundDue,
    /// All that was paid was refunded.
    Refunded,
}

impl Payment {
    pub fn amount(&self) -> Money {
        match self {
            Self::GiftCard { amount, .. } => *amount,
            Self::Card(card) => card.amount,
        }
    }

    /// The part of the amount that is credited, in minor units.
    pub fn credited(&self) -> i64 {
        match self {
            Self::GiftCard { credited, .. } => *credited,
            Self::Card(card) => card.credited,
        }
    }

    fn with_credited(self, credited: i64) -> Self {
        match self {
            Self::GiftCard { code, amount, status, .. } => Self::GiftCard { code, amount, status, credited },
            Self::Card(card) => Self::Card(card.with_credited(credited)),
        }
    }

    /// The card payment, if this is one.
    pub fn card(&self) -> Option<&CardPayment> {
        match self {
            Self::Card(card) => Some(card),
            Self::GiftCard { .. } => None,
        }
    }

    pub fn state(&self) -> PaymentState {
        match self {
            Self::GiftCard { status: PaymentStatus::Refunded, .. } => PaymentState::Refunded,
            Self::GiftCard { status: PaymentStatus::Authorized, .. } => PaymentState::Authorized,
            Self::GiftCard { status: PaymentStatus::Captured, amount, credited, .. } => {
                if *credited > 0 && *credited == amount.amount() {
                    PaymentState::Refunded
                } else {
                    PaymentState::Captured
                }
            }
            Self::Card(card) => card.state(),
        }
    }

    /// Whether an order in this status may have this payment.
    pub fn fits(&self, order: OrderStatus) -> bool {
        match self {
            Self::GiftCard { status, .. } if order == OrderStatus::Cancelled => *status == PaymentStatus::Refunded,
            Self::GiftCard { status, .. } => *status == PaymentStatus::Captured,
            Self::Card(card) => card.fits(order),
        }
    }

    /// The payment after the cancellation of its order, which `expired` if it was not paid in time. A gift card is
    /// refunded at once. A card payment becomes due for refund if it was captured, and void if not.
    #[must_use]
    pub fn cancelled(self, expired: bool) -> Self {
        match self {
            Self::GiftCard { code, amount, credited, .. } => {
                Self::GiftCard { code, amount, status: PaymentStatus::Refunded, credited }
            }
            Self::Card(card) => Self::Card(card.cancelled(expired)),
        }
    }

    /// The amounts that this payment brought in, that were returned, and that are due.
    pub fn balance(&self) -> Balance {
        let (whole, currency) = (self.amount(), self.amount().currency());
        let due = Money::zero(currency);
        match self {
            Self::Card(card) => card.balance(),
            Self::GiftCard { status: PaymentStatus::Captured, credited, .. } => {
                Balance { received: whole, returned: Money::nearest(*credited, currency), due }
            }
            Self::GiftCard { status: PaymentStatus::Refunded, .. } => Balance { received: whole, returned: whole, due },
            Self::GiftCard { status: PaymentStatus::Authorized, .. } => Balance { received: due, returned: due, due },
        }
    }

    /// The payment as it was when the order was placed.
    #[must_use]
    pub fn as_placed(&self) -> Self {
        match self {
            Self::GiftCard { code, amount, .. } => {
                let status = PaymentStatus::Captured;
                Self::GiftCard { code: code.clone(), amount: *amount, status, credited: 0 }
            }
            Self::Card(card) => Self::Card(CardPayment::of(card.amount)),
        }
    }
}

impl Invoice {
    /// The invoice of an order without taxes. It waits for no number.
    pub fn new(order: &Order, payments: Vec<Payment>) -> Self {
        Self {
            invoice_id: InvoiceId::of(&order.order_id),
            order_id: order.order_id.clone(),
            customer_id: order.customer_id.clone(),
            issued_at: order.placed_at,
            amount: order.total,
            taxes: Vec::new(),
            unnumbered: None,
            number: None,
            payments,
            version: 1,
        }
    }

    /// The card payment. An invoice has at most one, for what the gift cards leave.
    pub fn card(&self) -> Option<&CardPayment> {
        self.payments.iter().find_map(Payment::card)
    }

    /// The invoice with its number.
    #[must_use]
    pub fn numbered(self, number: InvoiceNumber) -> Self {
        Self { unnumbered: None, number: Some(number), ..self }
    }

    /// The invoice with this card payment in the place of its own.
    #[must_use]
    pub fn with_card(mut self, card: CardPayment) -> Self {
        for payment in &mut self.payments {
            if let Payment::Card(own) = payment {
                *own = card;
                break;
            }
        }
        self
    }

    /// The sum of what is credited of all payments, in minor units.
    pub fn credited(&self) -> i64 {
        self.payments.iter().map(Payment::credited).sum()
    }

    /// The invoice after this amount is credited in total, in minor units. The card payment goes back first, and then the
    /// gift cards, the last one first: the reverse of the order in which they paid. The result does not depend on the
    /// steps in which the amount grew.
    #[must_use]
    pub fn with_credited(mut self, total: i64) -> Self {
        let mut left = total;
        let payments = std::mem::take(&mut self.payments).into_iter().rev().map(|payment| {
            let credited = left.min(payment.amount().amount());
            left -= credited;
            payment.with_credited(credited)
        });
        self.payments = payments.collect();
        self.payments.reverse();
        self
    }
}
