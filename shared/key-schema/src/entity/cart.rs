//! Carts.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{CartVersion, CustomerId, ProductId, Quantity, Timestamp};

use super::Offer;

/// A customer's cart. It expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cart {
    pub customer_id: CustomerId,
    /// The lines, each with a different product.
    pub lines: Vec<CartLine>,
    pub updated_at: Timestamp,
    /// A random version, the `ETag`: a [`CartVersion`]. Being random, it can be replaced without reading the cart. 0 if
    /// there is no cart any more, but only its item: see [`erased`](Self::erased) and [`emptied`](Self::emptied).
    pub version: u64,
    /// The time of expiry, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
    /// The time at which the customer was erased. Such an item only prevents that a request which was on its way writes a
    /// new cart: see [`erased`](Self::erased).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Timestamp>,
}

/// The last second of the year 9999.
const NEVER: i64 = 253_402_300_799;

/// One line of a cart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoredCartLine)]
pub struct CartLine {
    /// The product.
    pub product_id: ProductId,
    /// The number of units.
    pub quantity: Quantity,
    /// The offer when the product was put into the cart. It stays while carts with the product replace each other.
    pub when_added: Offer,
}

impl Cart {
    /// Whether an order names the cart by this version.
    pub fn is_named(&self, version: CartVersion) -> bool {
        self.version == version.get()
    }

    /// The item in the place of an erased customer's cart. It has no lines, and does not expire.
    pub fn erased(customer_id: CustomerId, at: Timestamp) -> Self {
        Self { customer_id, lines: Vec::new(), updated_at: at, version: 0, expires_at: NEVER, erased_at: Some(at) }
    }

    /// The item of the cart after it has become an order. It has no lines and has expired.
    #[must_use]
    pub fn emptied(&self, at: Timestamp) -> Self {
        Self { lines: Vec::new(), version: 0, expires_at: at.as_second(), ..self.clone() }
    }

    /// Whether this is the item of an erased customer.
    pub fn is_erased(&self) -> bool {
        self.erased_at.is_some()
    }

    /// Whether there is no cart: it has expired, even if DynamoDB has not deleted it yet, or the customer is erased.
    pub fn is_absent(&self, now: Timestamp) -> bool {
        self.is_erased() || self.expires_at <= now.as_second()
    }
}
