//! Objects that no product may name.

use std::collections::BTreeMap;

use key_schema::value::{ImageId, ProductId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use objects::{Bucket, Error};

use crate::{BUCKET, key};

/// Lists objects.
#[derive(Clone, Debug)]
pub struct Garbage(Bucket);

/// A page of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The images on this page, by product, that are garbage unless their product names them.
    pub old: BTreeMap<ProductId, Vec<ImageId>>,
    /// The token of the next page, if there is one.
    pub next: Option<String>,
}

impl FromEnvironment for Garbage {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self(Bucket::open(environment, environment.required(BUCKET)?)?))
    }
}

impl Garbage {
    /// A page of the images that are old enough to be garbage. One request.
    ///
    /// # Errors
    /// S3 does not answer, or refuses the request.
    pub async fn page(&self, token: Option<String>) -> Result<Page, Error> {
        let now = Timestamp::now();
        let (keys, next) = self.0.page(key::PREFIX, token).await?;
        let mut old = BTreeMap::<_, Vec<_>>::new();
        for (product, image) in keys.iter().filter_map(|key| key::parse(key)) {
            if key::may_be_garbage(&image, now) {
                old.entry(product).or_default().push(image);
            }
        }
        Ok(Page { old, next })
    }
}
