//! `PUT /products/{productId}/images/{imageId}`: adds an uploaded image to its product.

use std::slice;

use http_api::{Answer, Example, ImagesView, Kind, Path, Problem, Route, Scope, Versioned};
use images::{Urls, may_be_added};
use key_schema::entity::Product;
use key_schema::value::{ImageId, ProductId, Timestamp};
use table::Budget;

use crate::image_change::{self, Deps};
use crate::optimistic;

pub const ROUTE: Route = Route::put("/products/{productId}/images/{imageId}", Scope::Admin)
    .summary(
        "Add an image to its product after its upload, and within an hour. The answer has all images of the product.",
    )
    .refuses(&[Kind::NotFound, Kind::TooManyImages])
    .access(image_change::ACCESS)
    .grants(&images::LOOK)
    .example(Example::at("09:30:40").path("espresso-cup/019aa5a7-2c4f-7d3e-8b1a-5f0c9e7d2b64"));

/// The client's word that the upload is done is not enough, so S3 is asked. That the object is the right one needs no
/// check: S3 takes no other under a signed URL.
///
/// A repeated request finds the image in the list, and succeeds. Two requests for two images are both carried out, and
/// the second one sees how many images there are.
pub async fn handle(
    (Deps { table, writer, store }, urls): (Deps, Urls),
    Path(product): Path<ProductId>,
    Path(image): Path<ImageId>,
    budget: Budget,
) -> Answer<Versioned<ImagesView>> {
    let mut retries = budget.retries();
    loop {
        let before: Product = optimistic::read(&table, Product::key_of(&product), budget).await?;
        if before.images.contains(&image) {
            return Ok(Versioned::new(before.version, ImagesView::new(urls.of(&before))));
        }
        if !may_be_added(&image, Timestamp::now()) || !store.has(&product, &image).await? {
            let detail = "There is no such image: it is not uploaded, or the hour in which to confirm it is over.";
            return Err(Problem::new(Kind::NotFound, detail));
        }
        image_change::has_room(&before)?;
        let images = [before.images.as_slice(), slice::from_ref(&image)].concat();
        let after = Product { images, ..before.clone() };
        if let Some(after) = optimistic::write(&writer, before, after, budget).await? {
            return Ok(Versioned::new(after.version, ImagesView::new(urls.of(&after))));
        }
        optimistic::pause(&mut retries, "product").await?;
    }
}
