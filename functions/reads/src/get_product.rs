//! `GET /products/{productId}`: one product with its stock and its sales.

use http_api::{Answer, Example, Kind, Lifetime, Path, Problem, ProductView, Route, Scope, Versioned};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::ProductById;
use key_schema::value::ProductId;
use stock::ReadMode;
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/products/{productId}", Scope::Public)
    .summary("A product.")
    .shared(Lifetime::Product)
    .refuses(&[Kind::NotFound])
    .access(&[Access::query::<ProductById>()])
    .access(stock::READ)
    .example(Example::at("09:34:00").path("espresso-cup"));

/// Takes one Query, and one BatchGetItem more if the stock has several cells.
pub async fn handle(
    (table, urls): (Reader, Urls),
    Path(id): Path<ProductId>,
    budget: Budget,
) -> Answer<Versioned<ProductView>> {
    let items = table.collection(&ProductById { id: &id }).await?;

    let (product, first, stats) = ProductById::assemble(items).ok_or_else(|| Problem::not_found("product"))?;
    let stock = stock::whole(&table, first, ReadMode::Eventual, budget).await?;
    let images = urls.of(&product);
    Ok(Versioned::new(product.version, ProductView::new(product, &stock, stats).with_images(images)))
}
