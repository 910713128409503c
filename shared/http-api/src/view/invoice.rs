use key_schema::entity::{Balance, Dispute, Invoice, Payment, PaymentState, RateTax};
use key_schema::value::{CustomerId, GiftCardCode, InvoiceId, InvoiceNumber, Money, OrderId, Timestamp};
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
    /// The taxes in the amount, a rate each, the lowest first. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taxes: Vec<RateTax>,
    /// The number, such as `2026-17`. Absent until it is given, some minutes after the order; and in a shop that numbers
    /// no invoices.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    number: Option<InvoiceNumber>,
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
        /// Captured, or refunded because all of it is back on the card.
        status: PaymentState,
        /// The amount that is back on the card. Absent if it is zero.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        returned: Option<Money>,
    },
    /// A payment with a bank card, or by bank transfer.
    Card {
        amount: Money,
        status: PaymentState,
        /// The part of the amount that need not be paid, or goes back, because units were cancelled or returned, or an
        /// amount was given back. Absent if it is zero.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        credited: Option<Money>,
        /// The amount that the shop received. Absent if it is zero.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        received: Option<Money>,
        /// The amount that the shop returned. Absent if it is zero.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        returned: Option<Money>,
        /// The part of the amount that staff decided to go without. Absent if it is zero.
        #[serde(rename = "writtenOff", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        written_off: Option<Money>,
        /// The amount that the shop still has to return. Absent if it is zero.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        due: Option<Money>,
        /// The bank's reference of the captured payment. Absent until the payment is captured.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        reference: Option<String>,
        /// The bank's reference of the newest refund. Absent until a refund is confirmed.
        #[serde(rename = "refundReference", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        refund_reference: Option<String>,
        /// The state of the newest dispute. Absent if the customer's bank never disputed the payment.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        dispute: Option<Dispute>,
    },
}

impl From<Invoice> for InvoiceView {
    fn from(invoice: Invoice) -> Self {
        let Invoice { invoice_id, order_id, customer_id, issued_at, amount, taxes, number, payments, .. } = invoice;
        let payments = payments.into_iter().map(PaymentView::from).collect();
        Self { invoice_id, order_id, customer_id, issued_at, amount, taxes, number, payments }
    }
}

impl From<Payment> for PaymentView {
    fn from(payment: Payment) -> Self {
        let status = payment.state();
        let Balance { received, returned, due } = payment.balance();
        let [received, returned, due] = [received, returned, due].map(|amount| Some(amount).filter(|it| !it.is_zero()));
        match payment {
            Payment::GiftCard { code, amount, .. } => Self::GiftCard { code, amount, status, returned },
            Payment::Card(card) => {
                let credited = Some(card.credited).filter(|amount| *amount > 0);
                let credited = credited.map(|amount| Money::nearest(amount, card.amount.currency()));
                let refund_reference = card.refund_reference().map(str::to_owned);
                let (amount, reference) = (card.amount, card.reference().map(str::to_owned));
                let dispute = card.held().dispute;
                let written_off = Some(card.written_off).filter(|amount| *amount > 0);
                let written_off = written_off.map(|amount| Money::nearest(amount, card.amount.currency()));
                Self::Card {
                    amount,
                    status,
                    credited,
                    written_off,
                    received,
                    returned,
                    due,
                    reference,
                    refund_reference,
                    dispute,
                }
            }
        }
    }
}
