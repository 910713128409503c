//! `GET /products/{productId}/stats`: how often a product was looked at and sold, and what that came to. What the
//! public may know of it is in `GET /products/{productId}`.

use http_api::{Answer, Example, Json, Kind, Path, Problem, ProductCountsView, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::{Product, ViewShard};
use key_schema::layout::{Consistency, ViewsOfProduct};
use key_schema::value::ProductId;
use table::{Budget, Reader, ViewShards};

pub const ROUTE: Route = Route::get("/products/{productId}/stats", Scope::Admin)
    .summary("How often a product was looked at and sold.")
    .limit(100, 200)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<Product>(), Access::batch_get::<ViewShard>()])
    .example(Example::at("09:41:20").path("espresso-cup"));

/// One BatchGetItem; what it leaves unprocessed is asked for again, so that no part is missing from the sum.
pub async fn handle(
    (table, shards): (Reader, ViewShards),
    Path(product): Path<ProductId>,
    budget: Budget,
) -> Answer<Json<ProductCountsView>> {
    let keys = ViewsOfProduct { product: &product, shards: shards.0 }.keys();
    let items = table.batch(keys, Consistency::Eventual, budget).await?;

    let (views, stats) = ViewsOfProduct::assemble(items).ok_or_else(|| Problem::not_found("product"))?;
    Ok(Json(ProductCountsView::new(product, views, stats)))
}
