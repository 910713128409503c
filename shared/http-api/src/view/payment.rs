use key_schema::entity::{PaymentDue, PaymentState, Work};
use key_schema::value::{IntentId, InvoiceId, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// The card payment of an order, as the customer's browser needs it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PaymentIntent)]
pub struct PaymentIntentView {
    pub order_id: OrderId,
    /// The payment provider whose form takes the client secret.
    #[schema(example = "stripe")]
    pub provider: &'static str,
    /// The provider's id of the payment.
    pub intent_id: IntentId,
    /// The secret with which the browser completes the payment. Absent once nothing is left to complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub client_secret: Option<String>,
    pub amount: Money,
    pub status: PaymentState,
}

/// An order about whose payment something is to be done.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DuePayment)]
pub struct PaymentDueView {
    order_id: OrderId,
    invoice_id: InvoiceId,
    /// The time since which the payment is due.
    since: Timestamp,
    work: Work,
    /// The amount that it is about.
    amount: Money,
}

impl From<PaymentDue> for PaymentDueView {
    fn from(PaymentDue { order_id, since, work, amount, shard: _ }: PaymentDue) -> Self {
        Self { invoice_id: InvoiceId::of(&order_id), order_id, since, work, amount }
    }
}
