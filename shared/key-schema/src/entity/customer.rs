//! Customers.

use serde::{Deserialize, Serialize};

use crate::value::{Currency, CustomerId, EmailAddress, Timestamp, Username};

use super::Sums;
use super::tally::{saturated, spent};

/// A customer's profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    /// Who it is.
    pub customer_id: CustomerId,
    /// Unique in the shop.
    pub username: Username,
    /// Unique in the shop.
    #[serde(deserialize_with = "EmailAddress::stored")]
    pub email: EmailAddress,
    /// How to address them.
    pub name: String,
    /// When they signed up.
    pub created_at: Timestamp,
    /// How often the profile was written; the `ETag`.
    pub version: u64,
}

impl Customer {
    /// Whether `other` came from the same sign-up.
    pub fn is_same_sign_up(&self, other: &Self) -> bool {
        let asked = |customer: &Self| (customer.username.clone(), customer.email.clone(), customer.name.clone());
        asked(self) == asked(other)
    }
}

/// What a customer's orders add up to, or what to add to that. Counted from the table's stream; absent until the
/// first order is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerStats {
    /// Whose.
    pub customer_id: CustomerId,
    /// How many orders, cancelled ones left out.
    #[serde(default, deserialize_with = "saturated")]
    pub orders: i64,
    /// What they came to, in minor units: `spent:EUR`.
    #[serde(flatten, with = "spent")]
    pub spent: Sums<Currency>,
}

/// An e-mail address in use. There is one for each, so the address is unique; it is also how a customer is found by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailClaim {
    /// The address.
    #[serde(deserialize_with = "EmailAddress::stored")]
    pub email: EmailAddress,
    /// Who uses it.
    pub customer_id: CustomerId,
}

/// A username in use, like [`EmailClaim`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsernameClaim {
    /// The name.
    pub username: Username,
    /// Who uses it.
    pub customer_id: CustomerId,
}
