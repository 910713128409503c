//! The categories of the catalogue.

use serde::{Deserialize, Serialize};

use crate::value::Category;

use super::tally::saturated;

/// The number of products in a category, or an amount to add to it. The item does not exist before the category's first
/// product, and says 0 after its last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CategoryCount {
    pub category: Category,
    /// The number of products that are counted in this category: [`Product::counted_in`](super::Product::counted_in).
    #[serde(default, deserialize_with = "saturated")]
    pub products: i64,
}
