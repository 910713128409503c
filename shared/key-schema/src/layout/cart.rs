//! Carts.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 18 [`CartOfCustomer`] | table | `c#{customerId}` | `cart` |

use crate::entity::{Cart, Entity as _};
use crate::value::CustomerId;

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    customer,
};

const CART: Place<(CustomerId,), ()> = Place::table(customer::COLLECTION, Template::new("cart"));

impl Stored for Cart {
    const PLACES: &'static [PlaceText] = &[CART.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }
}

impl Cart {
    /// The key of a customer's cart.
    pub fn key_of(customer: &CustomerId) -> Key {
        CART.key((customer,), ())
    }
}

/// A customer's cart.
pub struct CartOfCustomer<'a> {
    pub customer: &'a CustomerId,
}

impl AccessPattern for CartOfCustomer<'_> {
    type Item = Cart;

    const DECLARED: Declaration = Declaration {
        number: 18,
        question: "the cart of a customer",
        place: CART.text(),
        entities: &[Cart::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        CART.partition.fill((self.customer,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(CART.sort.fill(()))
    }
}
