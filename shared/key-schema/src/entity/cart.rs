//! Carts.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{CustomerId, ProductId, Quantity, Timestamp};

/// What a customer means to buy. It is gone after a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cart {
    /// Whose.
    pub customer_id: CustomerId,
    /// The lines, each of another product.
    pub lines: Vec<CartLine>,
    /// When it was put down.
    pub updated_at: Timestamp,
    /// Tells this cart from those before and after it; the `ETag`. A random number that JSON holds exactly, so a cart can
    /// be replaced without being read. Absent in a cart of before there were versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// From when on it is gone, in seconds since 1970. DynamoDB's TTL deletes it some time after that.
    pub expires_at: i64,
}

/// One line of a cart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CartLine {
    /// The product.
    pub product_id: ProductId,
    /// How many.
    pub quantity: Quantity,
}

impl Cart {
    /// The version, which is 0 for a cart that has none.
    pub fn version(&self) -> u64 {
        self.version.unwrap_or_default()
    }

    /// Whether it is gone, whether or not DynamoDB has deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }
}
