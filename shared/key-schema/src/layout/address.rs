//! Address books, and the addresses of orders. They are in no index.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 28 [`AddressesOfCustomer`] | table | `c#{customerId}` | `addresses` |

use crate::entity::{CustomerAddresses, Entity as _, OrderAddress};
use crate::value::{CustomerId, OrderId};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    customer, order,
};

const BOOK: Place<(CustomerId,), ()> = Place::table(customer::COLLECTION, Template::new("addresses"));
const OF_ORDER: Place<(OrderId,), ()> = Place::table(order::COLLECTION, Template::new("address"));

impl Stored for CustomerAddresses {
    const PLACES: &'static [PlaceText] = &[BOOK.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }
}

impl CustomerAddresses {
    /// The key of a customer's address book.
    pub fn key_of(customer: &CustomerId) -> Key {
        BOOK.key((customer,), ())
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
        OF_ORDER.key((order,), ())
    }
}

/// A customer's address book.
pub struct AddressesOfCustomer<'a> {
    pub customer: &'a CustomerId,
}

impl AccessPattern for AddressesOfCustomer<'_> {
    type Item = CustomerAddresses;

    const DECLARED: Declaration = Declaration {
        number: 28,
        question: "the address book of a customer",
        place: BOOK.text(),
        entities: &[CustomerAddresses::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        BOOK.partition.fill((self.customer,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(BOOK.sort.fill(()))
    }
}
