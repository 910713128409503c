//! Guests: people who order without an account.

use serde::{Deserialize, Serialize};

use crate::value::{CustomerId, EmailAddress, Timestamp};

/// How long a guest without an order is kept: seven days.
const KEPT_WITHOUT_ORDER: i64 = 7 * 24 * 60 * 60;

/// The profile of a guest. Their orders name the guest like a customer.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guest {
    /// The hash of the guest's [secret](crate::value::GuestSecret).
    pub customer_id: CustomerId,
    /// Nobody has verified the address. It may be that of a customer or of other guests.
    #[serde(deserialize_with = "EmailAddress::stored")]
    pub email: EmailAddress,
    pub name: String,
    pub created_at: Timestamp,
    /// The time of expiry, in seconds since 1970. The first order removes it.
    pub expires_at: Option<i64>,
    /// The customer who proved that the guest's address is theirs. The customer sees and changes the guest's orders.
    pub claimed_by: Option<CustomerId>,
}

impl Guest {
    /// A guest who has ordered nothing.
    pub fn new(customer_id: CustomerId, email: EmailAddress, name: String, now: Timestamp) -> Self {
        let expires_at = Some(now.as_second() + KEPT_WITHOUT_ORDER);
        Self { customer_id, email, name, created_at: now, expires_at, claimed_by: None }
    }

    /// Whether the guest has expired, even if DynamoDB has not deleted the item yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now.as_second())
    }

    /// Whether this customer has claimed the guest.
    pub fn is_claimed_by(&self, customer: &CustomerId) -> bool {
        self.claimed_by.as_ref() == Some(customer)
    }

    /// Whether both come from the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        (&self.customer_id, &self.email, &self.name) == (&other.customer_id, &other.email, &other.name)
    }
}
