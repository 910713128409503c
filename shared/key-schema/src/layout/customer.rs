//! Customers: the profile, and the item collection of profile, stats, cart and address book. The profile of a guest is in
//! such a collection, too.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 1 [`CustomerById`] | table | `c#{customerId}` | all |
//!
//! The profile's entry in GSI2, `o#~`, sorts just after the customer's newest order.

use crate::entity::{Customer, CustomerStats, Guest};
use crate::value::CustomerId;

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    collection,
};

/// The partition of a customer, in the table and in GSI2.
pub(super) const COLLECTION: Template<(CustomerId,)> = Template::new("c#{customerId}");

const CUSTOMER: Place<(CustomerId,), (CustomerId,)> = Place::table(COLLECTION, COLLECTION);
const AFTER_ORDERS: Place<(CustomerId,), ()> = Place::gsi2(COLLECTION, Template::new("o#~"));
const STATS: Place<(CustomerId,), ()> = Place::table(COLLECTION, Template::new("stats"));

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
        Self::key_of(&self.customer_id)
    }
}

impl CustomerStats {
    /// The key of a customer's stats.
    pub fn key_of(customer: &CustomerId) -> Key {
        STATS.key((customer,), ())
    }
}

collection! {
    /// An item of a customer's collection.
    InCustomer {
        Customer
        Cart
        CustomerAddresses
        /// The profile of a guest, in the place of a customer's.
        Guest
        /// The counters of the customer's orders.
        CustomerStats
    }
}

/// A customer's profile and stats.
pub struct CustomerById<'a> {
    pub id: &'a CustomerId,
}

impl CustomerById<'_> {
    /// Assembles the items of the collection. `None` if there is no profile, or only the tombstone of an erased customer.
    pub fn assemble(items: Vec<InCustomer>) -> Option<(Customer, Option<CustomerStats>)> {
        let (mut customer, mut stats) = (None, None);
        for item in items {
            match item {
                InCustomer::Customer(found) => customer = Some(found),
                InCustomer::CustomerStats(found) => stats = Some(found),
                InCustomer::Cart(_) | InCustomer::CustomerAddresses(_) | InCustomer::Guest(_) | InCustomer::Unknown => {
                }
            }
        }
        Some((customer.filter(|customer| !customer.is_erased())?, stats))
    }

    /// The guest whose collection it is. The guest may have expired.
    pub fn guest(items: &[InCustomer]) -> Option<&Guest> {
        items.iter().find_map(|item| match item {
            InCustomer::Guest(guest) => Some(guest),
            _ => None,
        })
    }
}

impl AccessPattern for CustomerById<'_> {
    type Item = InCustomer;

    const DECLARED: Declaration = Declaration {
        number: 1,
        question: "a customer by id",
        place: PlaceText { sort: "", ..CUSTOMER.text() },
        entities: InCustomer::KINDS,
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::Collection(5),
    };

    fn partition(&self) -> String {
        COLLECTION.fill((self.id,))
    }

    fn range(&self) -> SortRange {
        SortRange::Whole
    }
}
