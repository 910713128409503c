use key_schema::value::Currency;
use serde::Serialize;
use utoipa::ToSchema;

use super::{CategoryView, ProductView};

/// A page of what a search found. The products are as the search index has them: a change is found after a few seconds.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SearchResult)]
pub struct SearchView {
    pub items: Vec<ProductView>,
    /// The cursor of the next page; null if there is no next page.
    #[schema(required)]
    pub next: Option<String>,
    /// The number of products on all pages.
    pub total: u64,
    pub facets: FacetsView,
}

/// The numbers of products that other filters would find.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Facets)]
pub struct FacetsView {
    /// The products of each category that match the words and the price. The largest category first.
    pub categories: Vec<CategoryView>,
    /// The products in each range of prices that match the words and the category. The lowest price first.
    pub prices: Vec<PriceRangeView>,
}

/// The products in a range of prices.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PriceRange)]
pub struct PriceRangeView {
    pub currency: Currency,
    /// The lowest price, in minor units.
    pub from: i64,
    /// The price above the highest one, in minor units. Absent from the last range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// The number of products in this range.
    pub products: u64,
}
