//! Uploads: signed URLs, and what they are for.

use std::collections::BTreeMap;
use std::time::Duration;

use key_schema::value::{ImageId, ProductId};
use lambda::{Environment, FromEnvironment, Misconfigured};
use objects::{Error, Presigned, Upload};

use crate::{BUCKET, key};

/// An upload begins within so many seconds.
pub const UPLOAD_SECONDS: u32 = 15 * 60;

/// Signs the uploads of images. It makes no requests.
#[derive(Clone, Debug)]
pub struct Uploads(Presigned);

/// An image before it is uploaded.
#[derive(Clone, Debug)]
pub struct NewImage<'a> {
    /// Its size in bytes.
    pub size: u32,
    /// Its media type.
    pub content_type: &'a str,
    /// Its SHA-256, in base 64.
    pub sha256: &'a str,
}

impl FromEnvironment for Uploads {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self(Presigned::open(environment, environment.required(BUCKET)?)?))
    }
}

impl Uploads {
    /// The URL for the upload of this image, and the headers that the upload must have.
    ///
    /// # Errors
    /// The upload cannot be signed.
    pub fn sign(
        &self,
        product: &ProductId,
        image: &ImageId,
        new: &NewImage<'_>,
    ) -> Result<(String, BTreeMap<String, String>), Error> {
        let NewImage { size, content_type, sha256 } = *new;
        let key = key::of(product, image);
        let upload = Upload { key: &key, size: size.into(), content_type, sha256 };
        let (url, headers) = self.0.put(&upload, Duration::from_secs(UPLOAD_SECONDS.into()))?;
        Ok((url, headers.into_iter().collect()))
    }
}
