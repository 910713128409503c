//! The events of products.

use key_schema::entity::Product;
use key_schema::value::{Category, Money, ProductId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;
use crate::event::LAYOUT_VERSION;

/// A product was created, or something of it in the catalogue changed. Stock is not part of it: a sale is no change of
/// a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductChanged {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// Which product.
    pub product_id: ProductId,
    /// Its version from then on, the `ETag` of the API: a change with a greater one came later. A new product begins
    /// with 1.
    pub version: u64,
    /// Its name from then on.
    pub name: String,
    /// Its description from then on.
    pub description: String,
    /// Its category from then on.
    pub category: Category,
    /// Its price from then on.
    pub price: Money,
}

/// A product was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductRemoved {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// Which product.
    pub product_id: ProductId,
    /// Its last version.
    pub version: u64,
}

impl ProductChanged {
    pub(crate) fn new(product: Product, written_at: Timestamp) -> Self {
        Self {
            id: EventId::of_product_change(&product.product_id, product.version, written_at),
            layout_version: LAYOUT_VERSION,
            product_id: product.product_id,
            version: product.version,
            name: product.name,
            description: product.description,
            category: product.category,
            price: product.price,
        }
    }
}

impl ProductRemoved {
    pub(crate) fn new(product: Product, written_at: Timestamp) -> Self {
        Self {
            id: EventId::of_product_removal(&product.product_id, product.version, written_at),
            layout_version: LAYOUT_VERSION,
            product_id: product.product_id,
            version: product.version,
        }
    }
}
