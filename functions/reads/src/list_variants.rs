//! `GET /products/{productId}/variants`: the variants of a product.

use http_api::{Answer, Example, Lifetime, List, Path, ProductView, Route, Scope, Unfiltered};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::VARIANTS_OF_PRODUCT;
use key_schema::page::Page;
use key_schema::value::ProductId;
use table::Reader;

pub const ROUTE: Route = Route::get("/products/{productId}/variants", Scope::Public)
    .summary(
        "The variants of a product, with their attributes, sorted by product id. Also those that no other list has.",
    )
    .shared(Lifetime::List)
    .limit(35, 70)
    .access(&[Access::query(VARIANTS_OF_PRODUCT)])
    .example(Example::at("09:53:50").path("espresso-cup").query("limit=20"));

pub async fn handle(
    (table, urls): (Reader, Urls),
    Path(product): Path<ProductId>,
    List(Unfiltered {}, page): List<Unfiltered>,
) -> Answer<Page<ProductView>> {
    let page = table.page(&VARIANTS_OF_PRODUCT.ask(&product), &page).await?;
    Ok(page.map(|product| {
        let images = urls.of(&product);
        ProductView::variant(product).with_images(images)
    }))
}
