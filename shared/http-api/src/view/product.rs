use key_schema::entity::{Product, ProductStats, WholeStock};
use key_schema::value::{Category, Cells, Money, ProductId};
use serde::Serialize;
use utoipa::ToSchema;

use super::at_rest;

/// A product. In lists, which read the catalogue alone, stock and stats are left out.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Product)]
pub struct ProductView {
    product_id: ProductId,
    name: String,
    description: String,
    category: Category,
    price: Money,
    /// How many can be sold.
    #[serde(skip_serializing_if = "Option::is_none")]
    available: Option<u64>,
    /// In how many cells they lie, if in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<Cells>,
    /// Also the `ETag`.
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<ProductStatsView>,
}

/// What was sold of a product.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductStats)]
pub struct ProductStatsView {
    /// How many orders, cancelled ones left out.
    orders: u64,
    /// How many units.
    units: u64,
}

impl ProductView {
    /// A product with its stock, and the stats if there are any yet.
    pub fn new(product: Product, stock: &WholeStock, stats: Option<ProductStats>) -> Self {
        let stats = stats.map(|stats| ProductStatsView { orders: at_rest(stats.orders), units: at_rest(stats.units) });
        Self { stats: Some(stats.unwrap_or_default()), ..Self::with_stock(product, stock) }
    }

    /// A product with its stock, where the stats are not read.
    pub fn with_stock(product: Product, stock: &WholeStock) -> Self {
        let cells = Some(stock.cells()).filter(|cells| !cells.is_one());
        Self { available: Some(stock.available()), cells, ..product.into() }
    }
}

impl From<Product> for ProductView {
    fn from(product: Product) -> Self {
        Self {
            product_id: product.product_id,
            name: product.name,
            description: product.description,
            category: product.category,
            price: product.price,
            available: None,
            cells: None,
            version: product.version,
            stats: None,
        }
    }
}

/// How often a product was looked at and sold.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductCounts)]
pub struct ProductCountsView {
    product_id: ProductId,
    /// How often it was looked at.
    views: u64,
    /// How many orders, cancelled ones left out.
    orders: u64,
    /// How many units.
    units: u64,
    /// What they came to, one sum for each currency.
    revenue: Vec<Money>,
}

impl ProductCountsView {
    /// The counts of a product; of one that was never sold there are no stats.
    pub fn new(product_id: ProductId, views: u64, stats: Option<ProductStats>) -> Self {
        let counts = |stats: ProductStats| (at_rest(stats.orders), at_rest(stats.units), stats.revenue.money());
        let (orders, units, revenue) = stats.map(counts).unwrap_or_default();
        Self { product_id, views, orders, units, revenue }
    }
}
