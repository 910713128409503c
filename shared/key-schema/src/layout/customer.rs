//! Customers: the profile, and the item collection of profile, stats, cart and address book. The profile of a guest is in
//! such a collection, too.
//!
//! The profile's entry in GSI2, `o#~`, sorts just after the customer's newest order.

use crate::entity::{Cart, Customer, CustomerAddresses, CustomerStats, Guest};
use crate::value::CustomerId;

use super::{Bound, Key, Pattern, Place, PlaceText, Stored, Template, collection};

/// The partition of a customer, in the table and in GSI2.
pub(super) const COLLECTION: Template<CustomerId> = Template::new("c#{customerId}");

const CUSTOMER: Place<CustomerId, CustomerId> = Place::table(COLLECTION, COLLECTION);
const AFTER_ORDERS: Place<CustomerId, ()> = Place::gsi2(COLLECTION, Template::new("o#~"));
const STATS: Place<CustomerId, ()> = Place::table(COLLECTION, Template::new("stats"));

/// A customer's profile and stats.
pub const CUSTOMER_BY_ID: Pattern<CustomerId, InCustomer> =
    CUSTOMER.collection(1, "a customer by id", Bound::AtMost(5));

impl Stored for Customer {
    const PLACES: &'static [PlaceText] = &[CUSTOMER.text(), AFTER_ORDERS.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.customer_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![AFTER_ORDERS.key(&self.customer_id, ())]
    }
}

impl Customer {
    /// The key of a customer's profile.
    pub fn key_of(customer: &CustomerId) -> Key {
        CUSTOMER.key(customer, customer)
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
        STATS.key(customer, ())
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

impl InCustomer {
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
