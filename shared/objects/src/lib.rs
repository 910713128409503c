//! S3, as far as Till uses it: whole objects are written, read, listed and deleted, and URLs are signed for uploads.
//!
//! Requests are signed by `aws-sigv4`, the signer of AWS's SDKs, and sent by the connector of the other clients. The SDK of
//! S3 itself would be the largest dependency of all: its build takes 51 s of CPU time.
//!
//! **Invariant: an object is written whole or not at all, and with the bytes that were signed.** S3 compares the body with
//! the hash in the signature.

#![warn(missing_docs)]

mod bucket;
mod error;
mod presign;
mod signer;

pub use bucket::Bucket;
pub use error::Error;
pub use presign::{Presigned, Upload};
pub use signer::bucket_url;
