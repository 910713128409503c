//! Products, and what is counted of them.

use serde::{Deserialize, Serialize};

use crate::value::{Category, Currency, Money, ProductId};

use super::Sums;
use super::tally::{revenue, saturated};

/// A product of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    /// Which product.
    pub product_id: ProductId,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Where in the catalogue it stands.
    pub category: Category,
    /// What one costs.
    pub price: Money,
    /// How many could be sold at first: tells a repeated request from another one under the same id.
    pub initial_stock: u32,
    /// How often the product was written; the `ETag`. A sale does not move it.
    pub version: u64,
}

/// What was sold of a product, or what to add to that. Counted from the table's stream; absent until the first
/// order is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductStats {
    /// Of which product.
    pub product_id: ProductId,
    /// How many orders, cancelled ones left out.
    #[serde(default, deserialize_with = "saturated")]
    pub orders: i64,
    /// How many units.
    #[serde(default, deserialize_with = "saturated")]
    pub units: i64,
    /// What they came to, in minor units and before discounts: `revenue:EUR`.
    #[serde(flatten, with = "revenue")]
    pub revenue: Sums<Currency>,
}

/// A part of the count of a product's views. Each view is counted in one of many parts, so that no partition takes
/// them all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewShard {
    /// Of which product.
    pub product_id: ProductId,
    /// Which part.
    pub shard: u8,
    /// How many views.
    pub views: u64,
}
