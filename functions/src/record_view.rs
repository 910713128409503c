//! `POST /products/{productId}/views`: somebody looks at a product.

use http_api::{Answer, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::{Product, ViewShard};
use key_schema::layout::Consistency;
use key_schema::value::ProductId;
use table::{Condition, Put, Reader, ViewShards, Write, Writer};

pub const ROUTE: Route = Route::post("/products/{productId}/views", Scope::Public);

/// Each view goes to a part chosen at random, and the part is in the partition key: no partition takes all of a
/// popular product's views. One request, but for the first view of each part, which makes sure that there is such a
/// product.
pub async fn handle((reader, writer, shards): (Reader, Writer, ViewShards), request: Request) -> Answer {
    let product: ProductId = request.path("productId")?;
    let shard = fastrand::u8(..shards.0);
    if !count(&writer, &product, shard, &request).await? {
        let keys = vec![Product::key_of(&product)];
        let known: Vec<Product> = reader.batch(keys, Consistency::Strong, request.budget()).await?;
        if known.is_empty() {
            return Err(Problem::not_found("product"));
        }
        let first = ViewShard { product_id: product.clone(), shard, views: 1 };
        if let Put::Exists(_) = writer.put_new(&first, request.budget()).await? {
            count(&writer, &product, shard, &request).await?;
        }
    }
    Ok(Reply::no_content())
}

/// Adds one to a part; `false` if the part is not there yet.
async fn count(writer: &Writer, product: &ProductId, shard: u8, request: &Request) -> Result<bool, Problem> {
    let is_there = Condition::present().value(":one", 1)?;
    let add = Write::update(ViewShard::key_of(product, shard), "ADD #views :one", is_there);
    Ok(writer.write(add, request.budget()).await?.is_done())
}

pub fn describe() -> Description {
    ROUTE.describe("Count a view of a product.").done().refuses(&[Kind::NotFound])
}
