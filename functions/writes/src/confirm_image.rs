//! `PUT /products/{productId}/images/{imageId}`: adds an uploaded image to its product, or changes what is said of it.

use http_api::{Answer, Example, ImagesView, Kind, OptionalJson, Path, Problem, Route, Scope, Versioned};
use images::{Urls, may_be_added};
use key_schema::entity::{Product, ProductImage};
use key_schema::value::{AltText, ImageId, ImagePosition, Pixels, ProductId, Timestamp};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::image_change::{self, Deps};
use crate::optimistic;

pub const ROUTE: Route = Route::put("/products/{productId}/images/{imageId}", Scope::Admin)
    .summary(
        "Add an image to its product after its upload, and within an hour; or change what is said about an image of the \
         product, or its place. The answer has all images of the product.",
    )
    .refuses(&[Kind::NotFound, Kind::TooManyImages])
    .access(image_change::ACCESS)
    .grants(&images::LOOK)
    .example(Example::at("09:30:40").path("espresso-cup/019aa5a7-2c4f-7d3e-8b1a-5f0c9e7d2b64"));

/// What is said about an image. What is left out stays as it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageChanges {
    /// The text for people who do not see the image. Empty if the image is only decoration.
    alt: Option<AltText>,
    /// The width in pixels.
    width: Option<Pixels>,
    /// The height in pixels.
    height: Option<Pixels>,
    /// The place among the images of the product: 0 is the first one. A new image is the last one if this is left out.
    position: Option<ImagePosition>,
}

/// The client's word that the upload is done is not enough, so S3 is asked. That the object is the right one needs no
/// check: S3 takes no other under a signed URL.
///
/// A repeated request finds the image in the list, and succeeds. Two requests for two images are both carried out, and
/// the second one sees how many images there are.
pub async fn handle(
    (Deps { table, writer, store }, urls): (Deps, Urls),
    Path(product): Path<ProductId>,
    Path(image): Path<ImageId>,
    OptionalJson(changes): OptionalJson<ImageChanges>,
    budget: Budget,
) -> Answer<Versioned<ImagesView>> {
    let mut retries = budget.retries();
    loop {
        let before: Product = optimistic::read(&table, Product::key_of(&product), budget).await?;
        if before.images.iter().all(|one| one.image_id != image) {
            if !may_be_added(&image, Timestamp::now()) || !store.has(&product, &image).await? {
                let detail = "There is no such image: it is not uploaded, or the hour in which to confirm it is over.";
                return Err(Problem::new(Kind::NotFound, detail));
            }
            image_change::has_room(&before)?;
        }
        let images = changes.apply(before.images.clone(), &image);
        if images == before.images {
            return Ok(Versioned::new(before.version, ImagesView::new(urls.of(&before))));
        }
        let after = Product { images, ..before.clone() };
        if let Some(after) = optimistic::write(&writer, before, after, budget).await? {
            return Ok(Versioned::new(after.version, ImagesView::new(urls.of(&after))));
        }
        optimistic::pause(&mut retries, "product").await?;
    }
}

impl ImageChanges {
    /// The images with this one, which is new if it is not among them.
    fn apply(&self, mut images: Vec<ProductImage>, id: &ImageId) -> Vec<ProductImage> {
        let known = images.iter().position(|one| one.image_id == *id);
        let mut image = known.map_or_else(|| id.clone().into(), |at| images.remove(at));
        let at = self.position.map(|at| at.get().into()).or(known).unwrap_or(images.len()).min(images.len());
        let Self { alt, width, height, position: _ } = self;
        image.alt = alt.clone().or(image.alt);
        (image.width, image.height) = (width.or(image.width), height.or(image.height));
        images.insert(at, image);
        images
    }
}
