//! `POST /products/{productId}/views`: counts a view of a product.

use http_api::{Answer, Example, Kind, Path, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::{Product, ViewShard};
use key_schema::layout::Consistency;
use key_schema::value::ProductId;
use table::{Budget, Condition, Put, Reader, ViewShards, Write, Writer};

pub const ROUTE: Route = Route::post("/products/{productId}/views", Scope::Public)
    .summary("Count a view of a product.")
    .limit(200, 400)
    .refuses(&[Kind::NotFound])
    // Release 0.1.0 reads whole items, and runs under this release's role while it is deployed.
    .access(&[
        Access::put::<ViewShard>(),
        Access::update::<ViewShard>(),
        Access::exists::<Product>(),
        Access::batch_get::<Product>(),
    ])
    .after(&["get-product-stats"])
    .example(Example::at("09:40:40").path("espresso-cup"));

/// Each view is counted in a random shard. The shard is part of the partition key, so the views of a popular product
/// are spread over several partitions. Takes one request, except for the first view of each shard, which also checks
/// that the product exists.
pub async fn handle(
    (reader, writer, shards): (Reader, Writer, ViewShards),
    Path(product): Path<ProductId>,
    budget: Budget,
) -> Answer<()> {
    let shard = fastrand::u8(..shards.0);
    if !count(&writer, &product, shard, budget).await? {
        let keys = vec![Product::key_of(&product)];
        if reader.existing(keys, Consistency::Strong, budget).await?.is_empty() {
            return Err(Problem::not_found("product"));
        }
        let first = ViewShard { product_id: product.clone(), shard, views: 1 };
        if let Put::Exists(_) = writer.put_new(&first, budget).await? {
            count(&writer, &product, shard, budget).await?;
        }
    }
    Ok(())
}

/// Adds one to a shard. Returns `false` if the shard does not exist yet.
async fn count(writer: &Writer, product: &ProductId, shard: u8, budget: Budget) -> Answer<bool> {
    let is_there = Condition::present().value(":one", 1)?;
    let add = Write::update(ViewShard::key_of(product, shard), "ADD #views :one", is_there);
    Ok(writer.write(add, budget).await?.is_done())
}
