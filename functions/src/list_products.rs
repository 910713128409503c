//! `GET /products?category=`: the products of a category.

use http_api::{Answer, Example, List, ProductView, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::ProductsOfCategory;
use key_schema::value::Category;
use serde::Deserialize;
use table::{Page, Reader};
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/products", Scope::Public)
    .summary("The products of a category, by id.")
    .access(&[Access::query::<ProductsOfCategory>()])
    .example(Example::at("09:33:20").query("category=kitchen&limit=20"));

/// Which products.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OfCategory {
    /// The category.
    category: Category,
}

pub async fn handle(table: Reader, List(filter, page): List<OfCategory>) -> Answer<Page<ProductView>> {
    let page = table.page(&ProductsOfCategory { category: &filter.category }, &page).await?;
    Ok(page.map(ProductView::from))
}
