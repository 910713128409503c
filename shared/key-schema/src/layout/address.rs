//! Address books, and the addresses of orders. They are in no index.

use crate::entity::{CustomerAddresses, OrderAddress};
use crate::value::{CustomerId, OrderId};

use super::{Key, Pattern, Place, PlaceText, Stored, Template, customer, order};

const BOOK: Place<CustomerId, ()> = Place::table(customer::COLLECTION, Template::new("addresses"));
const OF_ORDER: Place<OrderId, ()> = Place::table(order::COLLECTION, Template::new("address"));

/// A customer's address book.
pub const ADDRESSES_OF_CUSTOMER: Pattern<CustomerId, CustomerAddresses> =
    BOOK.one(28, "the address book of a customer");

impl Stored for CustomerAddresses {
    const PLACES: &'static [PlaceText] = &[BOOK.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }
}

impl CustomerAddresses {
    /// The key of a customer's address book.
    pub fn key_of(customer: &CustomerId) -> Key {
        BOOK.key(customer, ())
    }
}

impl Stored for OrderAddress {
    const PLACES: &'static [PlaceText] = &[OF_ORDER.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }
}

impl OrderAddress {
    /// The key of an order's address.
    pub fn key_of(order: &OrderId) -> Key {
        OF_ORDER.key(order, ())
    }
}
