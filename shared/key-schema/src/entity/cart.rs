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
    /// Whether it is gone, whether or not DynamoDB has deleted it yet.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }
}
