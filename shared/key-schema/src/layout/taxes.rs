//! The tax rates: one item for the whole shop.

use crate::entity::Taxes;

use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const TAXES: Template<()> = Template::new("taxes");
const ONLY: Place<(), ()> = Place::table(TAXES, TAXES);

/// The tax rates of the shop.
pub const TAXES_OF_SHOP: Pattern<(), Taxes> = ONLY.one(30, "the tax rates of the shop");

impl Stored for Taxes {
    const PLACES: &'static [PlaceText] = &[ONLY.text()];

    fn key(&self) -> Key {
        Self::only_key()
    }
}

impl Taxes {
    /// The key of the only item.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}
