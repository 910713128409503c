use key_schema::entity::CategoryCount;
use key_schema::value::Category;
use serde::Serialize;
use utoipa::ToSchema;

/// A category of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CategoryCount)]
pub struct CategoryView {
    category: Category,
    /// The number of products in the category.
    products: u64,
}

impl CategoryView {
    /// A category that has products. `None` if it has none.
    pub fn of(count: CategoryCount) -> Option<Self> {
        let products = u64::try_from(count.products).ok().filter(|products| *products > 0)?;
        Some(Self { category: count.category, products })
    }
}

impl From<(Category, u64)> for CategoryView {
    fn from((category, products): (Category, u64)) -> Self {
        Self { category, products }
    }
}
