use std::collections::BTreeMap;

use key_schema::entity::{Availability, Product, ProductImage, ProductStats, WholeStock};
use key_schema::value::{Category, Cells, Grams, Money, ProductId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ImageView, ImagesView, at_rest};

/// A product. Lists read only the catalogue, so their products are without stock and stats.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Product)]
pub struct ProductView {
    product_id: ProductId,
    name: String,
    /// The description. Of a long one, only a read of this product shows the whole.
    description: String,
    /// Whether `description` is only the beginning of the description, with an ellipsis. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    description_continues: bool,
    category: Category,
    price: Money,
    /// What tells the variants of a product apart: texts by the names of the attributes. Absent in
    /// lists of categories and in searches, and if there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, String>,
    /// The product of which this is a variant. Absent in those lists, too, and if it is none.
    #[schema(nullable = false)]
    variant_of: Option<ProductId>,
    /// The weight of one unit in grams. Absent in lists, and if the product weighs nothing.
    #[schema(nullable = false)]
    weight_grams: Option<Grams>,
    /// `false` if no list, no category and no search has the product. Absent otherwise.
    #[schema(nullable = false)]
    listed: Option<bool>,
    /// Whether the product can be bought. Lists show it as of some seconds ago; an order looks at the stock itself.
    availability: Availability,
    /// Whether the product is recalled, so that it cannot be ordered. Absent in lists, and if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recalled: bool,
    /// The images, in the order that staff chose. Only reads show them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<ImageView>,
    /// The number of units that can be sold.
    available: Option<u64>,
    /// The number of cells of the stock. Absent if the stock has only one.
    cells: Option<Cells>,
    /// Also the `ETag`.
    version: u64,
    stats: Option<ProductStatsView>,
}

/// The sales of a product.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductStats)]
pub struct ProductStatsView {
    /// The number of orders, without cancelled ones.
    orders: u64,
    /// The number of units, without cancelled orders.
    units: u64,
}

impl ProductView {
    /// A product with its stock and the stats. Before the first order is counted, all stats are zero.
    pub fn new(product: Product, stock: &WholeStock, stats: Option<ProductStats>) -> Self {
        let stats = stats.map(|stats| ProductStatsView { orders: at_rest(stats.orders), units: at_rest(stats.units) });
        Self { stats: Some(stats.unwrap_or_default()), ..Self::with_stock(product, stock) }
    }

    /// The same with its images, each with its URL.
    #[must_use]
    pub fn with_images(self, images: Vec<(ProductImage, String)>) -> Self {
        Self { images: ImagesView::new(images).images, ..self }
    }

    /// A product as lists have it, with its name, its description or the beginning of that, and whether the description
    /// continues.
    pub fn listed(
        product_id: ProductId,
        (name, description, description_continues): (String, String, bool),
        category: Category,
        price: Money,
        availability: Availability,
        version: u64,
    ) -> Self {
        Self {
            product_id,
            name,
            description,
            description_continues,
            category,
            price,
            attributes: BTreeMap::new(),
            variant_of: None,
            weight_grams: None,
            listed: None,
            availability,
            recalled: false,
            images: Vec::new(),
            available: None,
            cells: None,
            version,
            stats: None,
        }
    }

    /// A product as the list of variants has it.
    pub fn variant(mut product: Product) -> Self {
        let (attributes, variant_of) = (std::mem::take(&mut product.attributes), product.variant_of.take());
        let listed = (!product.listed).then_some(false);
        Self { attributes, variant_of, listed, ..product.into() }
    }

    /// The same with its whole description.
    #[must_use]
    pub fn with_description(self, description: String) -> Self {
        Self { description, description_continues: false, ..self }
    }

    /// A product with its stock, but without the stats.
    pub fn with_stock(product: Product, stock: &WholeStock) -> Self {
        let cells = Some(stock.cells()).filter(|cells| !cells.is_one());
        let (weight_grams, available, recalled) = (product.weight_grams, Some(stock.available()), stock.recalled);
        // The stock is newer than the product's copy of what it says.
        let availability = match (stock.availability(0), product.availability) {
            (Availability::InStock, known) if known != Availability::SoldOut => known,
            (known, _) => known,
        };
        Self { weight_grams, availability, recalled, available, cells, ..Self::variant(product) }
    }
}

impl From<Product> for ProductView {
    fn from(product: Product) -> Self {
        let continues = product.description_continues();
        let Product { product_id, name, description, category, price, availability, version, .. } = product;
        Self::listed(product_id, (name, description, continues), category, price, availability, version)
    }
}

/// The views and sales of a product.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductCounts)]
pub struct ProductCountsView {
    product_id: ProductId,
    /// The number of views.
    views: u64,
    /// The number of orders, without cancelled ones.
    orders: u64,
    /// The number of units, without cancelled orders.
    units: u64,
    /// The sum of the lines' amounts before discounts, for each currency.
    revenue: Vec<Money>,
}

impl ProductCountsView {
    /// The counts of a product. Before the first order is counted, there are no stats.
    pub fn new(product_id: ProductId, views: u64, stats: Option<ProductStats>) -> Self {
        let counts = |stats: ProductStats| (at_rest(stats.orders), at_rest(stats.units), stats.revenue.money());
        let (orders, units, revenue) = stats.map(counts).unwrap_or_default();
        Self { product_id, views, orders, units, revenue }
    }
}
