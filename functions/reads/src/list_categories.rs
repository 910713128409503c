//! `GET /categories`: the categories of the catalogue, with their numbers of products.

use http_api::{Answer, CategoryView, Example, Lifetime, List, Route, Scope, Unfiltered};
use key_schema::access::Access;
use key_schema::layout::CATEGORIES;
use key_schema::page::Page;
use table::Reader;

pub const ROUTE: Route = Route::get("/categories", Scope::Public)
    .summary("The categories that have products, sorted by name. Categories without products make a page shorter.")
    .shared(Lifetime::List)
    .access(&[Access::query(CATEGORIES)])
    .example(Example::at("09:33:10").query("limit=100"));

pub async fn handle(table: Reader, List(Unfiltered {}, page): List<Unfiltered>) -> Answer<Page<CategoryView>> {
    let Page { items, next } = table.page(&CATEGORIES.ask(()), &page).await?;
    Ok(Page { items: items.into_iter().filter_map(CategoryView::of).collect(), next })
}
