//! `GET /products?category=`: the products of a category.

use http_api::{Answer, Description, ProductView, Reply, Request, Route, Scope};
use key_schema::layout::ProductsOfCategory;
use key_schema::value::Category;
use serde::Deserialize;
use table::Reader;
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/products", Scope::Public);

/// Which products.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OfCategory {
    /// The category.
    category: Category,
}

pub async fn handle(table: Reader, request: Request) -> Answer {
    let (filter, page) = request.list::<OfCategory>()?;
    let page = table.page(&ProductsOfCategory { category: &filter.category }, &page).await?;
    Reply::ok(&page.map(ProductView::from))
}

pub fn describe() -> Description {
    ROUTE.describe("The products of a category, by id.").lists::<OfCategory, ProductView>()
}
