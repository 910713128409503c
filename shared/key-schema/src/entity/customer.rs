//! Customers.

use serde::{Deserialize, Serialize};

use crate::value::{Currency, CustomerId, EmailAddress, Invalid, Timestamp, Username};

use super::Sums;
use super::stock::is_zero;
use super::tally::{saturated, spent};

/// A customer's profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    pub customer_id: CustomerId,
    /// Unique in the shop.
    pub username: Username,
    /// Unique in the shop.
    #[serde(deserialize_with = "EmailAddress::stored")]
    pub email: EmailAddress,
    pub name: String,
    pub created_at: Timestamp,
    /// The number of times the profile was written, which is the `ETag`.
    pub version: u64,
    /// The time at which the customer was erased. The profile is a tombstone since then: see [`erased`](Self::erased).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Timestamp>,
    /// The guests whom the customer has claimed, at most [`MOST_GUESTS`](Self::MOST_GUESTS). One who was erased or has
    /// expired may still be named: whether the claim holds is said by the guest alone, in `claimedBy`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<CustomerId>,
}

/// The texts of a tombstone. They satisfy every rule for the fields, and say nothing. The top-level domain is reserved, so
/// no mail reaches the address (RFC 2606, 2).
const ERASED: &str = "erased";
const ERASED_EMAIL: &str = "erased@erased.invalid";

impl Customer {
    /// The most guests whom a customer may claim. An erasure of the customer goes through all of them in one request.
    pub const MOST_GUESTS: usize = 20;

    /// The tombstone of this customer: the id and the times, and nothing about the person. It has no claims. It keeps the
    /// id from being used again, and proves that the customer was erased.
    ///
    /// # Errors
    /// The neutral texts are invalid: a defect.
    pub fn erased(&self, at: Timestamp) -> Result<Self, Invalid> {
        Ok(Self {
            customer_id: self.customer_id.clone(),
            username: ERASED.parse()?,
            email: ERASED_EMAIL.parse()?,
            name: ERASED.to_owned(),
            created_at: self.created_at,
            version: self.version + 1,
            erased_at: Some(at),
            guests: Vec::new(),
        })
    }

    /// Whether the profile says nothing but what a tombstone says.
    pub fn is_tombstone(&self) -> bool {
        let tombstone = self.erased_at.and_then(|at| self.erased(at).ok());
        tombstone.is_some_and(|tombstone| Self { version: self.version, ..tombstone } == *self)
    }

    /// Whether the customer was erased.
    pub fn is_erased(&self) -> bool {
        self.erased_at.is_some()
    }

    /// Whether both come from the same sign-up request.
    pub fn is_same_sign_up(&self, other: &Self) -> bool {
        let request = |customer: &Self| (customer.username.clone(), customer.email.clone(), customer.name.clone());
        request(self) == request(other)
    }
}

/// Counters of a customer's orders, or amounts to add to them. The item does not exist before the first order is
/// counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerStats {
    pub customer_id: CustomerId,
    /// The number of orders, without cancelled ones.
    #[serde(default, deserialize_with = "saturated")]
    pub orders: i64,
    /// The number of units in the orders that wait for payment.
    #[serde(default, deserialize_with = "saturated", skip_serializing_if = "is_zero")]
    pub open_units: i64,
    /// The sum of the orders' totals, in minor units, as attributes like `spent:EUR`.
    #[serde(flatten, with = "spent")]
    pub spent: Sums<Currency>,
}

/// An e-mail address in use. The item's key is the address, so the address is unique. It leads to the address's
/// customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailClaim {
    #[serde(deserialize_with = "EmailAddress::stored")]
    pub email: EmailAddress,
    pub customer_id: CustomerId,
}

/// A username in use, like [`EmailClaim`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsernameClaim {
    pub username: Username,
    pub customer_id: CustomerId,
}
