use key_schema::entity::{GiftCard, GiftCardEntry, PaymentStatus};
use key_schema::value::{GiftCardCode, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::Caller;

/// A gift card with its entries. The balance and the captured entries add up to the initial balance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GiftCardView {
    #[serde(flatten)]
    card: IssuedGiftCardView,
    entries: Vec<EntryView>,
}

/// What one order took off a gift card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GiftCardEntry)]
struct EntryView {
    /// The order. Only admins see it: a card may have been given away.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<OrderId>,
    /// What it took.
    amount: Money,
    /// When.
    at: Timestamp,
    /// Captured, or refunded when the order was cancelled.
    status: PaymentStatus,
}

/// A gift card as it was issued.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GiftCard)]
pub struct IssuedGiftCardView {
    /// The code on the card.
    code: GiftCardCode,
    /// What is left on it.
    balance: Money,
    /// What it was sold with.
    initial: Money,
    /// When it was made.
    created_at: Timestamp,
}

impl From<GiftCard> for IssuedGiftCardView {
    fn from(card: GiftCard) -> Self {
        let GiftCard { code, balance, initial, created_at } = card;
        Self { code, balance, initial, created_at }
    }
}

impl GiftCardView {
    /// A gift card with its entries, as the caller may see it.
    pub fn new(card: GiftCard, entries: Vec<GiftCardEntry>, caller: &Caller) -> Self {
        let entries = entries.into_iter().map(|GiftCardEntry { code: _, order_id, amount, at, status }| EntryView {
            order_id: Some(order_id).filter(|_| caller.is_admin),
            amount,
            at,
            status,
        });
        Self { card: card.into(), entries: entries.collect() }
    }
}
