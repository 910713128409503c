//! `POST /products/{productId}/views`: somebody looks at a product.

use edge::{Answer, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::{Product, ViewShard};
use key_schema::layout::Consistency;
use key_schema::value::ProductId;
use table::{Condition, Environment, FromEnvironment, Misconfigured, Put, Reader, Write, Writer};

pub const ROUTE: Route = Route::post("/products/{productId}/views", Scope::Public);

/// Into how many parts the views of a product are counted, and the table that holds them.
#[derive(Clone)]
pub struct Deps {
    reader: Reader,
    writer: Writer,
    shards: u8,
}

impl FromEnvironment for Deps {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let (reader, writer) = FromEnvironment::from_environment(environment)?;
        Ok(Self { reader, writer, shards: environment.shards("VIEW_SHARDS")? })
    }
}

/// Each view goes to a part chosen at random, and the part is in the partition key: no partition takes all of a popular product's
/// views. One request, but for the first view of each part, which makes sure that there is such a product.
pub async fn handle(deps: Deps, request: Request) -> Answer {
    let product: ProductId = request.path("productId")?;
    let shard = fastrand::u8(..deps.shards);
    if !count(&deps, &product, shard, &request).await? {
        let keys = vec![Product::key_of(&product)];
        let known: Vec<Product> = deps.reader.batch(keys, Consistency::Strong, request.budget()).await?;
        if known.is_empty() {
            return Err(Problem::not_found("product"));
        }
        let first = ViewShard { product_id: product.clone(), shard, views: 1 };
        if let Put::Exists(_) = deps.writer.put_new(&first, request.budget()).await? {
            count(&deps, &product, shard, &request).await?;
        }
    }
    Ok(Reply::no_content())
}

/// Adds one to a part; `false` if the part is not there yet.
async fn count(deps: &Deps, product: &ProductId, shard: u8, request: &Request) -> Result<bool, Problem> {
    let is_there = Condition::present().value(":one", 1)?;
    let add = Write::update(ViewShard::key_of(product, shard), "ADD #views :one", is_there);
    Ok(deps.writer.write(add, request.budget()).await?.is_ok())
}

pub fn describe() -> Description {
    ROUTE.describe("Count a view of a product.").done().refuses(&[Kind::NotFound])
}
