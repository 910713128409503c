//! `GET /products/{productId}`: one product with its stock and its sales.

use catalogue::Described;
use http_api::{Answer, Example, Kind, Lifetime, Path, Problem, ProductView, Route, Scope, Versioned};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::{InProduct, PRODUCT_BY_ID, WholeProduct};
use key_schema::value::ProductId;
use stock::ReadMode;
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/products/{productId}", Scope::Public)
    .summary("A product.")
    .shared(Lifetime::Product)
    .limit(150, 300)
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(PRODUCT_BY_ID)])
    .access(stock::READ)
    .access(catalogue::SNAPSHOT_OF_DESCRIPTION)
    .example(Example::at("09:34:00").path("espresso-cup"));

/// Takes one Query, and one BatchGetItem more if the stock has several cells. If the Query sees only a part of a
/// transaction that changes a long description, it takes a snapshot read more.
pub async fn handle(
    (table, urls): (Reader, Urls),
    Path(id): Path<ProductId>,
    budget: Budget,
) -> Answer<Versioned<ProductView>> {
    let items = table.collection(&PRODUCT_BY_ID.ask(&id)).await?;

    let found = InProduct::assemble(items).ok_or_else(|| Problem::not_found("product"))?;
    let WholeProduct { product, long_description, stock: first, stats } = found;
    let described = catalogue::described(&table, product, long_description, budget).await?;
    let Described { product, description } = described.ok_or_else(|| Problem::not_found("product"))?;
    let stock = stock::whole(&table, first, ReadMode::Eventual, budget).await?;
    let (version, images) = (product.version, urls.of(&product));
    let view = ProductView::new(product, &stock, stats).with_images(images);
    Ok(Versioned::new(version, description.into_iter().fold(view, ProductView::with_description)))
}
