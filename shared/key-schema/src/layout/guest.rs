//! Guests. A guest's item is in the collection of a customer, so the guest's orders and stats have the keys of any
//! customer's.

use crate::entity::Guest;
use crate::value::CustomerId;

use super::{Key, Place, PlaceText, Stored, Template, customer};

const GUEST: Place<CustomerId, ()> = Place::table(customer::COLLECTION, Template::new("guest"));

impl Stored for Guest {
    const PLACES: &'static [PlaceText] = &[GUEST.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }
}

impl Guest {
    /// The key of a guest's profile.
    pub fn key_of(guest: &CustomerId) -> Key {
        GUEST.key(guest, ())
    }
}
