//! Products and their stock.

use serde::{Deserialize, Serialize};

use crate::value::{Category, Money, ProductId};

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

/// How many of a product can be sold, and at what price.
///
/// Apart from the product, so that a sale writes neither the product nor its index entry. `price` is the product's; the
/// product owns it, and a price change writes both in one transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stock {
    /// Of which product.
    pub product_id: ProductId,
    /// How many can be sold. Never below zero.
    pub available: u64,
    /// What one costs: the copy that an order's condition checks.
    pub price: Money,
}

/// What was sold of a product. Kept from the table's stream; absent until the first order is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductStats {
    /// Of which product.
    pub product_id: ProductId,
    /// How many orders, cancelled ones left out.
    pub orders: u64,
    /// How many units.
    pub units: u64,
    /// What they came to, one sum for each currency.
    pub revenue: Vec<Money>,
}

/// A part of the count of a product's views. Each view is counted in one of many parts, so that no partition takes them all.
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
