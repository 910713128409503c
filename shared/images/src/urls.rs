//! The URLs at which everybody sees the images.

use key_schema::entity::{ImageUrls, Product, ProductImage};
use key_schema::value::{ImageId, ProductId};
use lambda::{Environment, FromEnvironment, Misconfigured};
use objects::bucket_url;

use crate::{BUCKET, key};

/// Knows the URLs of images. It makes no requests.
#[derive(Clone, Debug)]
pub struct Urls {
    /// Without a final slash.
    base: String,
}

impl FromEnvironment for Urls {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let bucket = environment.required(BUCKET)?;
        let base = match environment.declared("IMAGES_URL")? {
            Some(base) => base.trim_end_matches('/').to_owned(),
            None => bucket_url(environment, bucket)?,
        };
        Ok(Self { base })
    }
}

impl Urls {
    /// The images of a product, each with its URL.
    pub fn of(&self, product: &Product) -> Vec<(ProductImage, String)> {
        product.images.iter().map(|image| self.with_url(product, image)).collect()
    }

    /// The first image of a product, with its URL.
    pub fn thumbnail(&self, product: &Product) -> Option<(ProductImage, String)> {
        product.images.first().map(|image| self.with_url(product, image))
    }

    fn with_url(&self, product: &Product, image: &ProductImage) -> (ProductImage, String) {
        (image.clone(), self.url(&product.product_id, &image.image_id))
    }
}

impl ImageUrls for Urls {
    fn url(&self, product: &ProductId, image: &ImageId) -> String {
        format!("{}/{}", self.base, key::of(product, image))
    }
}
