//! Carts.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{CustomerId, ProductId, Quantity, Timestamp};

/// A customer's cart. It expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cart {
    pub customer_id: CustomerId,
    /// The lines, each with a different product.
    pub lines: Vec<CartLine>,
    pub updated_at: Timestamp,
    /// A random version, the `ETag`. Being random, it can be replaced without reading the cart. JSON can hold it
    /// exactly. Absent in carts from before there were versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The time of expiry, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
}

/// One line of a cart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CartLine {
    /// The product.
    pub product_id: ProductId,
    /// The number of units.
    pub quantity: Quantity,
}

impl Cart {
    /// The version; 0 for a cart without one.
    pub fn version(&self) -> u64 {
        self.version.unwrap_or_default()
    }

    /// Whether the cart has expired, even if DynamoDB has not deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }
}
