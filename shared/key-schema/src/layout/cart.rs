//! Carts.

use crate::entity::Cart;
use crate::value::CustomerId;

use super::{Key, Pattern, Place, PlaceText, Stored, Template, customer};

const CART: Place<CustomerId, ()> = Place::table(customer::COLLECTION, Template::new("cart"));

/// A customer's cart.
pub const CART_OF_CUSTOMER: Pattern<CustomerId, Cart> = CART.one(18, "the cart of a customer");

impl Stored for Cart {
    const PLACES: &'static [PlaceText] = &[CART.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }
}

impl Cart {
    /// The key of a customer's cart.
    pub fn key_of(customer: &CustomerId) -> Key {
        CART.key(customer, ())
    }
}
