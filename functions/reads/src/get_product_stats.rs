//! `GET /products/{productId}/stats`: the views and the sales of a product.

use http_api::{Answer, Example, Json, Kind, Path, Problem, ProductCountsView, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::{Product, ProductStats, ViewShard};
use key_schema::layout::{Consistency, InViews};
use key_schema::value::ProductId;
use table::{Budget, Every, Reader, ViewShards};

pub const ROUTE: Route = Route::get("/products/{productId}/stats", Scope::Admin)
    .summary("The views and the sales of a product.")
    .limit(100, 200)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<Product>(), Access::batch_get::<ProductStats>(), Access::batch_get::<ViewShard>()])
    .example(Example::at("09:41:20").path("espresso-cup"));

/// Takes one BatchGetItem. Keys that DynamoDB leaves unprocessed are requested again, so that no shard of the views is
/// missing from the sum.
pub async fn handle(
    (table, Every(shards)): (Reader, Every<ViewShards>),
    Path(product): Path<ProductId>,
    budget: Budget,
) -> Answer<Json<ProductCountsView>> {
    let keys = ViewShard::keys_of(&product, shards.0);
    let items = table.batch(keys, Consistency::Eventual, budget).await?;

    let (views, stats) = InViews::assemble(items).ok_or_else(|| Problem::not_found("product"))?;
    Ok(Json(ProductCountsView::new(product, views, stats)))
}
