//! `DELETE /products/{productId}/images/{imageId}`: removes an image from its product.

use http_api::{Answer, Example, Kind, Path, Route, Scope};
use images::{Store, may_be_deleted};
use key_schema::value::{ImageId, ProductId, Timestamp};
use table::{Budget, Reader, Writer};
use tracing::warn;

use crate::image_change;

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
    (table, writer, store): (Reader, Writer, Store),
    Path(product): Path<ProductId>,
    Path(image): Path<ImageId>,
    budget: Budget,
) -> Answer<()> {
    let mut retries = budget.retries();
    loop {
        let found = image_change::product(&table, &product, budget).await?;
        let others: Vec<_> = found.images.iter().filter(|other| **other != image).cloned().collect();
        if others.len() == found.images.len() || image_change::write(&writer, &found, others, budget).await?.is_some() {
            break;
        }
        image_change::pause(&mut retries).await?;
    }
    if may_be_deleted(&image, Timestamp::now())
        && let Err(cause) = store.delete(&product, &image).await
    {
        let cause = lambda::chain(&cause);
        warn!(%product, %image, cause, "the object of a removed image is left to the next run of tidy-images");
    }
    Ok(())
}
