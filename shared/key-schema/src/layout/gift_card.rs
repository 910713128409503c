//! Gift cards and their entries.

use crate::entity::{GiftCard, GiftCardEntry};
use crate::value::{GiftCardCode, OrderId};

use super::{Bound, Key, Pattern, Place, PlaceText, Stored, Template, collection, order};

const COLLECTION: Template<GiftCardCode> = Template::new("g#{code}");

const GIFT_CARD: Place<GiftCardCode, GiftCardCode> = Place::table(COLLECTION, COLLECTION);
const ENTRY: Place<GiftCardCode, OrderId> = Place::table(COLLECTION, order::COLLECTION);

/// A gift card and its entries, the card first.
pub const GIFT_CARD_BY_CODE: Pattern<GiftCardCode, InGiftCard> =
    GIFT_CARD.collection(19, "a gift card and its entries", Bound::All);

impl Stored for GiftCard {
    const PLACES: &'static [PlaceText] = &[GIFT_CARD.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.code)
    }
}

impl GiftCard {
    /// The key of a gift card.
    pub fn key_of(code: &GiftCardCode) -> Key {
        GIFT_CARD.key(code, code)
    }
}

impl Stored for GiftCardEntry {
    const PLACES: &'static [PlaceText] = &[ENTRY.text()];

    fn key(&self) -> Key {
        ENTRY.key(&self.code, &self.order_id)
    }
}

collection! {
    /// An item of a gift card's collection.
    InGiftCard {
        GiftCard
        /// The use of the card by an order.
        GiftCardEntry
    }
}

impl InGiftCard {
    /// Assembles the items of the collection, the oldest entry first. `None` if there is no card.
    pub fn assemble(items: Vec<InGiftCard>) -> Option<(GiftCard, Vec<GiftCardEntry>)> {
        let (mut card, mut entries) = (None, Vec::new());
        for item in items {
            match item {
                InGiftCard::GiftCard(found) => card = Some(found),
                InGiftCard::GiftCardEntry(entry) => entries.push(entry),
                InGiftCard::Unknown => {}
            }
        }
        entries.sort_by(|a, b| (a.at, &a.order_id).cmp(&(b.at, &b.order_id)));
        Some((card?, entries))
    }
}
