//! The objects of images whose ids are known.

use std::time::Duration;

use key_schema::value::{ImageId, ProductId};
use lambda::{Environment, FromEnvironment, Misconfigured};
use objects::{Bucket, Error};

use crate::{BUCKET, key};

/// The longest wait for S3. Requests of the shop last a few seconds.
const PATIENCE: Duration = Duration::from_secs(4);

/// Looks for objects, and deletes them.
#[derive(Clone, Debug)]
pub struct Store(Bucket);

impl FromEnvironment for Store {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self(Bucket::open(environment, environment.required(BUCKET)?)?))
    }
}

impl Store {
    /// Whether the image is uploaded.
    ///
    /// # Errors
    /// S3 does not answer in time, or refuses the request. It refuses with 403 if one of the permissions of
    /// [`LOOK`](crate::LOOK) is missing.
    pub async fn has(&self, product: &ProductId, image: &ImageId) -> Result<bool, Error> {
        in_time(self.0.has(&key::of(product, image))).await
    }

    /// Deletes the image's object, if there is one.
    ///
    /// # Errors
    /// As those of [`has`](Self::has). The object may be deleted.
    pub async fn delete(&self, product: &ProductId, image: &ImageId) -> Result<(), Error> {
        in_time(self.0.delete(&key::of(product, image))).await
    }
}

async fn in_time<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(PATIENCE, request).await.unwrap_or(Err(Error::Late(PATIENCE)))
}
