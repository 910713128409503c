//! `POST /products/{productId}/views`: counts a view of a product.

use http_api::{Answer, Example, Kind, Path, Problem, Route, Scope};
use key_schema::value::ProductId;
use table::{Budget, Reader, ViewShards, Writer};

use crate::views::{self, Counter, Views};

pub const ROUTE: Route = Route::post("/products/{productId}/views", Scope::Public)
    .summary("Count a view of a product.")
    .limit(200, 400)
    .refuses(&[Kind::NotFound])
    .access(views::COUNT)
    .after(&["get-product-stats"])
    .example(Example::at("09:40:40").path("espresso-cup"));

pub async fn handle(
    (reader, writer, shards): (Reader, Writer, ViewShards),
    Path(product): Path<ProductId>,
    budget: Budget,
) -> Answer<()> {
    let unknown = Counter { reader, writer, shards, budget }.add(Views::from([(product, 1)])).await?;
    if unknown.is_empty() { Ok(()) } else { Err(Problem::not_found("product")) }
}
