//! A customer's item collection, and the claims that make e-mail and username unique.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 1 [`CustomerById`] | table | `c#{customerId}` | all |
//! | 13 [`CustomerByEmail`] | table | `email#{email}` | `email#{email}` |
//! | 13 [`CustomerByUsername`] | table | `username#{name}` | `username#{name}` |
//! | 18 [`CartOfCustomer`] | table | `c#{customerId}` | `cart` |
//!
//! The profile's entry in GSI2, `o#~`, sorts just after the customer's newest order.

use serde::{Deserialize, Serialize};

use crate::entity::{Cart, Customer, CustomerStats, EmailClaim, Entity as _, UsernameClaim};
use crate::value::{CustomerId, EmailAddress, Username};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

/// The partition of a customer, in the table and in GSI2.
pub(super) const COLLECTION: Template<(CustomerId,)> = Template::new("c#{customerId}");
const EMAIL: Template<(EmailAddress,)> = Template::new("email#{email}");
const USERNAME: Template<(Username,)> = Template::new("username#{name}");

const CUSTOMER: Place<(CustomerId,), (CustomerId,)> = Place::table(COLLECTION, COLLECTION);
const AFTER_ORDERS: Place<(CustomerId,), ()> = Place::gsi2(COLLECTION, Template::new("o#~"));
const STATS: Place<(CustomerId,), ()> = Place::table(COLLECTION, Template::new("stats"));
const CART: Place<(CustomerId,), ()> = Place::table(COLLECTION, Template::new("cart"));
const EMAIL_CLAIM: Place<(EmailAddress,), (EmailAddress,)> = Place::table(EMAIL, EMAIL);
const USERNAME_CLAIM: Place<(Username,), (Username,)> = Place::table(USERNAME, USERNAME);

impl Stored for Customer {
    const PLACES: &'static [PlaceText] = &[CUSTOMER.text(), AFTER_ORDERS.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![AFTER_ORDERS.key((&self.customer_id,), ())]
    }
}

impl Customer {
    /// The key of a customer's profile.
    pub fn key_of(customer: &CustomerId) -> Key {
        CUSTOMER.key((customer,), (customer,))
    }
}

impl Stored for CustomerStats {
    const PLACES: &'static [PlaceText] = &[STATS.text()];

    fn key(&self) -> Key {
        STATS.key((&self.customer_id,), ())
    }
}

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

impl Stored for EmailClaim {
    const PLACES: &'static [PlaceText] = &[EMAIL_CLAIM.text()];

    fn key(&self) -> Key {
        EMAIL_CLAIM.key((&self.email,), (&self.email,))
    }
}

impl Stored for UsernameClaim {
    const PLACES: &'static [PlaceText] = &[USERNAME_CLAIM.text()];

    fn key(&self) -> Key {
        USERNAME_CLAIM.key((&self.username,), (&self.username,))
    }
}

/// An item of a customer's collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum InCustomer {
    /// The profile.
    Customer(Customer),
    /// The cart.
    Cart(Cart),
    /// What the orders add up to.
    CustomerStats(CustomerStats),
    /// Something a newer version has put there.
    #[serde(other)]
    Unknown,
}

/// A customer with what the orders add up to.
pub struct CustomerById<'a> {
    /// Who.
    pub id: &'a CustomerId,
}

impl CustomerById<'_> {
    /// Puts the items of the collection together; `None` without a profile.
    pub fn assemble(items: Vec<InCustomer>) -> Option<(Customer, Option<CustomerStats>)> {
        let (mut customer, mut stats) = (None, None);
        for item in items {
            match item {
                InCustomer::Customer(found) => customer = Some(found),
                InCustomer::CustomerStats(found) => stats = Some(found),
                InCustomer::Cart(_) | InCustomer::Unknown => {}
            }
        }
        Some((customer?, stats))
    }
}

impl AccessPattern for CustomerById<'_> {
    type Item = InCustomer;

    const DECLARED: Declaration = Declaration {
        number: 1,
        question: "a customer by id",
        place: PlaceText { sort: "", ..CUSTOMER.text() },
        entities: &[Customer::TYPE, Cart::TYPE, CustomerStats::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::Collection(3),
    };

    fn partition(&self) -> String {
        COLLECTION.fill((self.id,))
    }

    fn range(&self) -> SortRange {
        SortRange::Whole
    }
}

/// Who uses an e-mail address.
pub struct CustomerByEmail<'a> {
    /// The address.
    pub email: &'a EmailAddress,
}

impl AccessPattern for CustomerByEmail<'_> {
    type Item = EmailClaim;

    const DECLARED: Declaration = Declaration {
        number: 13,
        question: "a customer by e-mail",
        place: EMAIL_CLAIM.text(),
        entities: &[EmailClaim::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        EMAIL.fill((self.email,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(EMAIL.fill((self.email,)))
    }
}

/// Who uses a username.
pub struct CustomerByUsername<'a> {
    /// The name.
    pub username: &'a Username,
}

impl AccessPattern for CustomerByUsername<'_> {
    type Item = UsernameClaim;

    const DECLARED: Declaration = Declaration {
        number: 13,
        question: "a customer by username",
        place: USERNAME_CLAIM.text(),
        entities: &[UsernameClaim::TYPE],
        ..CustomerByEmail::DECLARED
    };

    fn partition(&self) -> String {
        USERNAME.fill((self.username,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(USERNAME.fill((self.username,)))
    }
}

/// A customer's cart.
pub struct CartOfCustomer<'a> {
    /// Whose.
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
