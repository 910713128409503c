//! `GET /products/{productId}/orders`: the order lines of a product, merged from the product's shards.

use http_api::{Answer, Example, List, OrderItemView, Path, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::{ORDERS_OF_PRODUCT, in_shards};
use key_schema::page::Page;
use key_schema::value::{ProductId, TimeRange};
use table::{Every, ProductShards, Reader};

pub const ROUTE: Route = Route::get("/products/{productId}/orders", Scope::Admin)
    .summary("The orders of a product in a time range, as order lines.")
    .access(&[Access::query(ORDERS_OF_PRODUCT)])
    .example(Example::at("09:40:00").path("espresso-cup").query("from=2026-01-01&limit=50"));

pub async fn handle(
    (table, Every(shards), urls): (Reader, Every<ProductShards>, Urls),
    Path(product): Path<ProductId>,
    List(placed, page): List<TimeRange>,
) -> Answer<Page<OrderItemView>> {
    let shards = in_shards(shards.0, |shard| ORDERS_OF_PRODUCT.ask((&product, &shard, &placed)));
    Ok(table.merged(&shards, &page).await?.map(|line| OrderItemView::new(line, &urls)))
}
