//! The tax rates. They are read only by key.

use crate::entity::Taxes;

use super::{Key, Place, PlaceText, Stored, Template};

const TAXES: Template<()> = Template::new("taxes");
const ONLY: Place<(), ()> = Place::table(TAXES, TAXES);

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
