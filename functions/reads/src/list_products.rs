//! `GET /products?category=`: the products of a category.

use http_api::{Answer, Example, Lifetime, List, ProductView, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::ProductsOfCategory;
use key_schema::page::Page;
use key_schema::value::Category;
use serde::Deserialize;
use table::Reader;
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/products", Scope::Public)
    .summary("The products of a category, sorted by product id.")
    .shared(Lifetime::List)
    .access(&[Access::query::<ProductsOfCategory>()])
    .example(Example::at("09:33:20").query("category=kitchen&limit=20"));

/// The filter of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OfCategory {
    category: Category,
}

pub async fn handle((table, urls): (Reader, Urls), List(filter, page): List<OfCategory>) -> Answer<Page<ProductView>> {
    let page = table.page(&ProductsOfCategory { category: &filter.category }, &page).await?;
    Ok(page.map(|product| {
        let images = urls.of(&product);
        ProductView::from(product).with_images(images)
    }))
}
