//! How far the counts are compared with the orders. Read by its key alone.

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
    /// The key of the one there is.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}
