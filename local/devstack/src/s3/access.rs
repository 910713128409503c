//! Roles at the embedded S3: a call that its function's role does not allow is refused.

use std::sync::Arc;

use s3s::access::{S3Access, S3AccessContext};
use s3s::path::S3Path;
use s3s::{S3Result, s3_error};

use crate::iam::{Denial, Guard};

pub(super) struct Roles(pub(super) Arc<Guard>);

#[async_trait::async_trait]
impl S3Access for Roles {
    /// Nothing is public: every request has a signature.
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let Some(credentials) = context.credentials() else {
            return Err(s3_error!(AccessDenied, "a request needs a signature"));
        };
        let (bucket, key) = match context.s3_path() {
            S3Path::Root => ("*", None),
            S3Path::Bucket { bucket } => (&**bucket, None),
            S3Path::Object { bucket, key } => (&**bucket, Some(&**key)),
        };
        let checked = self.0.check_s3(&credentials.access_key, context.s3_op().name(), bucket, key);
        checked.map_err(|Denial(message)| s3_error!(AccessDenied, "{message}"))
    }
}
