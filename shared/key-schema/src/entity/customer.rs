//! Customers.

use serde::{Deserialize, Serialize};

use crate::value::{CustomerId, EmailAddress, Money, Timestamp, Username};

/// A customer's profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    /// Who it is.
    pub customer_id: CustomerId,
    /// Unique in the shop.
    pub username: Username,
    /// Unique in the shop.
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

/// What a customer's orders add up to. Kept from the table's stream; absent until the first order is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerStats {
    /// Whose.
    pub customer_id: CustomerId,
    /// How many orders, cancelled ones left out.
    pub orders: u64,
    /// What they came to, one sum for each currency.
    pub spent: Vec<Money>,
}

/// An e-mail address in use. There is one for each, so the address is unique; it is also how a customer is found by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailClaim {
    /// The address.
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
