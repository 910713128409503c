//! `GET /products/{productId}`: a product, with its stock and what was sold of it.

use http_api::{Answer, Description, Kind, Problem, ProductView, Reply, Request, Route, Scope};
use key_schema::layout::ProductById;
use stock::ReadMode;
use table::Reader;

pub const ROUTE: Route = Route::get("/products/{productId}", Scope::Public);

/// One Query; of a stock in several cells, a BatchGetItem of those more.
pub async fn handle(table: Reader, request: Request) -> Answer {
    let id = request.path("productId")?;
    let items = table.collection(&ProductById { id: &id }).await?;

    let (product, first, stats) = ProductById::assemble(items).ok_or_else(|| Problem::not_found("product"))?;
    let stock = stock::whole(&table, first, ReadMode::Eventual, request.budget()).await?;
    let version = product.version;
    Ok(Reply::ok(&ProductView::new(product, &stock, stats))?.etag(version))
}

pub fn describe() -> Description {
    ROUTE.describe("A product.").versioned().answers::<ProductView>().refuses(&[Kind::NotFound])
}
