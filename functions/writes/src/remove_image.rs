//! `DELETE /products/{productId}/images/{imageId}`: removes an image from its product.

use http_api::{Answer, Example, Kind, Path, Route, Scope};
use images::may_be_deleted;
use key_schema::entity::Product;
use key_schema::value::{ImageId, ProductId, Timestamp};
use table::Budget;
use tracing::warn;

use crate::image_change::{self, Deps};
use crate::optimistic::replace;

pub const ROUTE: Route = Route::delete("/products/{productId}/images/{imageId}", Scope::Admin)
    .summary("Remove an image from its product.")
    .refuses(&[Kind::NotFound])
    .access(image_change::ACCESS)
    .grants(&[images::DELETE])
    .example(Example::at("09:31:00").path("espresso-cup/019aa5a7-2c4f-7d3e-8b1a-5f0c9e7d2b64"));

/// Succeeds if the product does not have the image.
///
/// The object is deleted second, so that a product never names an object that is not there. If the request stops in
/// between, a repeated request or `tidy-images` deletes the object. A delayed confirmation might add a young image again,
/// so its object is left to `tidy-images`.
pub async fn handle(
    Deps { table, writer, store }: Deps,
    Path(product): Path<ProductId>,
    Path(image): Path<ImageId>,
    budget: Budget,
) -> Answer<()> {
    let without = |product: &Product| {
        let images: Vec<_> = product.images.iter().filter(|other| other.image_id != image).cloned().collect();
        Ok((images.len() < product.images.len()).then(|| Product { images, ..product.clone() }))
    };
    replace((&table, &writer), Product::key_of(&product), without, budget).await?;
    if may_be_deleted(&image, Timestamp::now())
        && let Err(cause) = store.delete(&product, &image).await
    {
        let cause = lambda::chain(&cause);
        warn!(%product, %image, cause, "the object of a removed image is left to the next run of tidy-images");
    }
    Ok(())
}
