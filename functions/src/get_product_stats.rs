//! `GET /products/{productId}/stats`: how often a product was looked at and sold, and what that came to. What the
//! public may know of it is in `GET /products/{productId}`.

use http_api::{Answer, Description, Kind, Problem, ProductCountsView, Reply, Request, Route, Scope};
use key_schema::layout::{Consistency, ViewsOfProduct};
use key_schema::value::ProductId;
use table::{Reader, ViewShards};

pub const ROUTE: Route = Route::get("/products/{productId}/stats", Scope::Admin);

/// One BatchGetItem; what it leaves unprocessed is asked for again, so that no part is missing from the sum.
pub async fn handle((table, shards): (Reader, ViewShards), request: Request) -> Answer {
    let product: ProductId = request.path("productId")?;
    let keys = ViewsOfProduct { product: &product, shards: shards.0 }.keys();
    let items = table.batch(keys, Consistency::Eventual, request.budget()).await?;

    let (views, stats) = ViewsOfProduct::assemble(items).ok_or_else(|| Problem::not_found("product"))?;
    Reply::ok(&ProductCountsView::new(product, views, stats))
}

pub fn describe() -> Description {
    ROUTE
        .describe("How often a product was looked at and sold.")
        .answers::<ProductCountsView>()
        .refuses(&[Kind::NotFound])
}
