use key_schema::entity::{Invoice, Payment, PaymentState, Settlement};
use key_schema::value::{CustomerId, GiftCardCode, InvoiceId, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// The invoice of an order. The amounts of its payments add up to its own.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invoice)]
pub struct InvoiceView {
    /// Which invoice.
    invoice_id: InvoiceId,
    /// Of which order.
    order_id: OrderId,
    /// For whom.
    customer_id: CustomerId,
    /// When.
    issued_at: Timestamp,
    /// What is to be paid.
    amount: Money,
    /// How it is paid: gift cards first, the rest by card.
    payments: Vec<PaymentView>,
}

/// One payment.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schema(as = Payment)]
pub enum PaymentView {
    /// Taken off a gift card.
    GiftCard {
        /// Which.
        code: GiftCardCode,
        /// How much.
        amount: Money,
        /// Captured, or refunded when the order was cancelled.
        status: PaymentState,
    },
    /// Charged to a bank card.
    Card {
        /// How much.
        amount: Money,
        /// Where it stands.
        status: PaymentState,
        /// What the bank calls it, once captured.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        reference: Option<String>,
        /// What the bank calls the refund, once it is made.
        #[serde(rename = "refundReference", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        refund_reference: Option<String>,
    },
}

impl From<Invoice> for InvoiceView {
    fn from(invoice: Invoice) -> Self {
        let Invoice { invoice_id, order_id, customer_id, issued_at, amount, payments } = invoice;
        let payments = payments.into_iter().map(PaymentView::from).collect();
        Self { invoice_id, order_id, customer_id, issued_at, amount, payments }
    }
}

impl From<Payment> for PaymentView {
    fn from(payment: Payment) -> Self {
        let state = payment.state();
        match payment {
            Payment::GiftCard { code, amount, .. } => Self::GiftCard { code, amount, status: state },
            Payment::Card { amount, reference, settlement, .. } => {
                let refund_reference = match settlement {
                    Some(Settlement::Refunded { reference }) => Some(reference),
                    _ => None,
                };
                Self::Card { amount, status: state, reference, refund_reference }
            }
        }
    }
}
