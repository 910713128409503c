use key_schema::entity::{ChosenMethod, OfferedMethod, Payment};
use key_schema::value::{GiftCardCode, Money};
use serde::Serialize;
use utoipa::ToSchema;

use super::{CodeUseView, OrderLineView};

/// What an order would cost now. `total` is `subtotal` less `discount`, plus `shipping` and `tax` if there are any, and the
/// payments add up to it. The quote reserves nothing: send its `total` as the order's `expectedTotal`, and the
/// method's id as `shippingMethod`.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Quote)]
pub struct QuoteView {
    /// The lines, in the order of the request.
    pub lines: Vec<OrderLineView>,
    pub subtotal: Money,
    pub discount: Money,
    /// The discount codes of a request with several, in the order in which they apply. Absent with one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<CodeUseView>,
    /// The price of shipping. Absent if the request has no address, or the shop has no shipping rates.
    #[schema(nullable = false)]
    pub shipping: Option<Money>,
    /// The method by which the order is shipped. Absent without a price of shipping.
    #[schema(nullable = false)]
    pub shipping_method: Option<ChosenMethod>,
    /// The methods by which the order can be shipped, in the order that staff choose. The first one is taken if the request
    /// names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shipping_methods: Vec<OfferedMethod>,
    /// The tax that comes on top of the prices. Absent if the prices include the tax.
    #[schema(nullable = false)]
    pub tax: Option<Money>,
    pub total: Money,
    /// The payments: gift cards first, the rest by bank card.
    pub payments: Vec<QuotedPaymentView>,
}

/// A payment that the order would have.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schema(as = QuotedPayment)]
pub enum QuotedPaymentView {
    /// A payment from a gift card.
    GiftCard { code: GiftCardCode, amount: Money },
    /// A payment with a bank card, or by bank transfer.
    Card { amount: Money },
}

impl From<Payment> for QuotedPaymentView {
    fn from(payment: Payment) -> Self {
        match payment {
            Payment::GiftCard { code, amount, .. } => Self::GiftCard { code, amount },
            Payment::Card(card) => Self::Card { amount: card.amount },
        }
    }
}
