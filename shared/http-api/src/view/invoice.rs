use key_schema::entity::{CardPayment, Invoice, Payment, PaymentState, Settlement};
use key_schema::value::{CustomerId, GiftCardCode, InvoiceId, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// The invoice of an order. The amounts of the payments add up to the amount of the invoice.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invoice)]
pub struct InvoiceView {
    invoice_id: InvoiceId,
    order_id: OrderId,
    customer_id: CustomerId,
    issued_at: Timestamp,
    /// The amount to pay, which is the order's total.
    amount: Money,
    /// The payments: gift cards first, the rest by bank card.
    payments: Vec<PaymentView>,
}

/// One payment.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schema(as = Payment)]
pub enum PaymentView {
    /// A payment from a gift card.
    GiftCard {
        code: GiftCardCode,
        amount: Money,
        /// Captured, or refunded because the order was cancelled.
        status: PaymentState,
    },
    /// A payment with a bank card, or by bank transfer.
    Card {
        amount: Money,
        status: PaymentState,
        /// The bank's reference of the captured payment. Absent until the payment is captured.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        reference: Option<String>,
        /// The bank's reference of the refund. Absent until the refund is confirmed.
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
            Payment::Card(CardPayment { amount, reference, settlement, .. }) => {
                let refund_reference = match settlement {
                    Some(Settlement::Refunded { reference }) => Some(reference),
                    _ => None,
                };
                Self::Card { amount, status: state, reference, refund_reference }
            }
        }
    }
}
