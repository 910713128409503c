use key_schema::entity::{GiftCard, GiftCardEntry};
use serde::Serialize;
use utoipa::ToSchema;

/// A gift card with its entries. The balance and the captured entries add up to the initial balance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GiftCardView {
    #[serde(flatten)]
    card: GiftCard,
    entries: Vec<GiftCardEntry>,
}

impl GiftCardView {
    /// A gift card with its entries.
    pub fn new(card: GiftCard, entries: Vec<GiftCardEntry>) -> Self {
        Self { card, entries }
    }
}
