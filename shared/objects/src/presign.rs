//! Signed URLs, for browsers that have no credentials.

use std::time::Duration;

use lambda::{Environment, Misconfigured};

use crate::Error;
use crate::signer::Signer;

/// Signs URLs of one bucket. It makes no requests.
#[derive(Clone, Debug)]
pub struct Presigned(Signer);

/// An object that somebody else may write, exactly as it is described here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload<'a> {
    /// The key of the object.
    pub key: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// Its media type.
    pub content_type: &'a str,
    /// Its SHA-256, in base 64.
    pub sha256: &'a str,
}

impl Presigned {
    /// Signs URLs of the bucket with this name, in the environment's region.
    ///
    /// # Errors
    /// Region or credentials are missing.
    pub fn open(environment: &Environment, bucket: &str) -> Result<Self, Misconfigured> {
        Ok(Self(Signer::new(environment, bucket)?))
    }

    /// A URL for one upload, which is valid for this time, and the headers that the upload must have. S3 refuses an upload
    /// with another size, type or content, and one whose object exists already.
    ///
    /// # Errors
    /// The upload cannot be signed.
    pub fn put(&self, upload: &Upload<'_>, valid: Duration) -> Result<(String, Vec<(String, String)>), Error> {
        let headers = [
            ("content-length", upload.size.to_string()),
            ("content-type", upload.content_type.to_owned()),
            ("if-none-match", "*".to_owned()),
            ("x-amz-checksum-sha256", upload.sha256.to_owned()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let url = self.0.url("PUT", upload.key, &headers, valid)?;
        Ok((url, headers))
    }
}
