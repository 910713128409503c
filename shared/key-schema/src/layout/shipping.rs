//! The shipping rates: one item for the whole shop.

use crate::entity::ShippingRates;

use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const SHIPPING: Template<()> = Template::new("shipping");
const ONLY: Place<(), ()> = Place::table(SHIPPING, SHIPPING);

/// The shipping rates of the shop.
pub const RATES_OF_SHOP: Pattern<(), ShippingRates> = ONLY.one(29, "the shipping rates of the shop");

impl Stored for ShippingRates {
    const PLACES: &'static [PlaceText] = &[ONLY.text()];

    fn key(&self) -> Key {
        Self::only_key()
    }
}

impl ShippingRates {
    /// The key of the only item.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}
