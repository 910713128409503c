use key_schema::entity::{GiftCard, GiftCardEntry, PaymentStatus};
use key_schema::value::{GiftCardCode, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::Caller;

/// A gift card with its entries. The balance and the captured entries, less what was returned of these, add up to the
/// initial balance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GiftCardView {
    #[serde(flatten)]
    card: IssuedGiftCardView,
    entries: Vec<EntryView>,
}

/// The payment of one order from a gift card.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GiftCardEntry)]
struct EntryView {
    /// The order. Only admins see it, because the buyer of a card may have given it to somebody else.
    order_id: Option<OrderId>,
    amount: Money,
    /// The time of the payment.
    at: Timestamp,
    /// Captured, or refunded because the order was cancelled.
    status: PaymentStatus,
    /// The part that is back on the card because units were cancelled or returned, or an amount was given back. Absent
    /// if it is zero.
    #[schema(nullable = false)]
    returned: Option<Money>,
}

/// A gift card as it was issued.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GiftCard)]
pub struct IssuedGiftCardView {
    code: GiftCardCode,
    /// The amount that is left on the card.
    balance: Money,
    /// The amount with which the card was issued.
    initial: Money,
    created_at: Timestamp,
    /// The card cannot be spent from this moment on. Absent if the card does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    valid_until: Option<Timestamp>,
    /// Whether the card is blocked: orders cannot spend it. Absent if it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    blocked: bool,
}

impl From<GiftCard> for IssuedGiftCardView {
    fn from(card: GiftCard) -> Self {
        let GiftCard { code, balance, initial, created_at, valid_until, blocked, version: _ } = card;
        Self { code, balance, initial, created_at, valid_until, blocked }
    }
}

impl GiftCardView {
    /// A gift card with its entries, as this caller may see them.
    pub fn new(card: GiftCard, entries: Vec<GiftCardEntry>, caller: &Caller) -> Self {
        let entries =
            entries.into_iter().map(|GiftCardEntry { code: _, order_id, amount, at, status, returned }| EntryView {
                order_id: Some(order_id).filter(|_| caller.is_admin),
                amount,
                at,
                status,
                returned: Some(Money::nearest(returned, amount.currency())).filter(|returned| !returned.is_zero()),
            });
        Self { card: card.into(), entries: entries.collect() }
    }
}
