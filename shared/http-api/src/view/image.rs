use std::collections::BTreeMap;

use key_schema::entity::ProductImage;
use key_schema::value::{AltText, ImageId, Pixels, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// An image of a product.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Image)]
pub struct ImageView {
    pub image_id: ImageId,
    /// The URL at which everybody can see the image. What is there never changes.
    pub url: String,
    /// The text for people who do not see the image. Empty if it is only decoration, absent if staff gave none.
    #[schema(nullable = false)]
    pub alt: Option<AltText>,
    /// The width in pixels, if staff gave it.
    #[schema(nullable = false)]
    pub width: Option<Pixels>,
    /// The height in pixels, if staff gave it.
    #[schema(nullable = false)]
    pub height: Option<Pixels>,
}

impl ImageView {
    /// An image with its URL.
    pub fn new(image: ProductImage, url: String) -> Self {
        let ProductImage { image_id, alt, width, height } = image;
        Self { image_id, url, alt, width, height }
    }
}

/// The images of a product, in the order that staff chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Images)]
pub struct ImagesView {
    pub images: Vec<ImageView>,
}

impl ImagesView {
    /// These images, each with its URL.
    pub fn new(images: Vec<(ProductImage, String)>) -> Self {
        Self { images: images.into_iter().map(|(image, url)| ImageView::new(image, url)).collect() }
    }
}

/// The upload of an image: a request to another server than the API's, without the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImageUpload)]
pub struct ImageUploadView {
    /// The id with which the image is confirmed after its upload.
    pub image_id: ImageId,
    /// The method of the upload, which is PUT.
    pub method: &'static str,
    /// The URL of the upload. It is secret: whoever has it can upload the image.
    pub url: String,
    /// The headers of the upload. With any other value, the upload is refused.
    pub headers: BTreeMap<String, String>,
    /// The time at which the URL ends to be valid.
    pub expires_at: Timestamp,
}
