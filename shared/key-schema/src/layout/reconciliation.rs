//! The progress of comparing the counts with the orders. It is read only by key.

use crate::entity::Reconciliation;

use super::{Key, Place, PlaceText, Stored, Template};

const RECONCILIATION: Template<()> = Template::new("reconciliation");
const ONLY: Place<(), ()> = Place::table(RECONCILIATION, RECONCILIATION);

impl Stored for Reconciliation {
    const PLACES: &'static [PlaceText] = &[ONLY.text()];

    fn key(&self) -> Key {
        Self::only_key()
    }
}

impl Reconciliation {
    /// The key of the only item.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}
