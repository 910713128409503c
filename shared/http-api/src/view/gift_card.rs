use key_schema::entity::{GiftCard, GiftCardEntry, PaymentStatus};
use key_schema::value::{Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::Caller;

/// A gift card with its entries. The balance and the captured entries add up to the initial balance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GiftCardView {
    #[serde(flatten)]
    card: GiftCard,
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

impl GiftCardView {
    /// A gift card with its entries, as the caller may see it.
    pub fn new(card: GiftCard, entries: Vec<GiftCardEntry>, caller: &Caller) -> Self {
        let entries = entries.into_iter().map(|GiftCardEntry { code: _, order_id, amount, at, status }| EntryView {
            order_id: Some(order_id).filter(|_| caller.is_admin),
            amount,
            at,
            status,
        });
        Self { card, entries: entries.collect() }
    }
}
