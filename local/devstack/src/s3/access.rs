//! Roles at the embedded S3: a call that its function's role does not allow is refused.

use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use s3s::access::{S3Access, S3AccessContext};
use s3s::path::S3Path;
use s3s::{S3Result, s3_error};

use crate::iam::{Denial, Guard, matches_arn};
use crate::resource::bucket_arn;
use crate::stories::{Call, Stories};

pub(super) struct Roles {
    pub(super) guard: Arc<Guard>,
    pub(super) stories: Arc<Stories>,
    /// Patterns of the ARNs of the objects that everybody may read.
    pub(super) public: Vec<String>,
}

#[async_trait::async_trait]
impl S3Access for Roles {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let (bucket, key) = match context.s3_path() {
            S3Path::Root => ("*", None),
            S3Path::Bucket { bucket } => (&**bucket, None),
            S3Path::Object { bucket, key } => (&**bucket, Some(&**key)),
        };
        let operation = context.s3_op().name();
        let Some(credentials) = context.credentials() else {
            let is_public = |key: &str| {
                let object = format!("{}/{key}", bucket_arn(bucket));
                self.public.iter().any(|pattern| matches_arn(pattern, &object))
            };
            let may = ["GetObject", "HeadObject"].contains(&operation) && key.is_some_and(is_public);
            return if may { Ok(()) } else { Err(s3_error!(AccessDenied, "a request needs a signature")) };
        };
        let checked = self.guard.check_s3(&credentials.access_key, operation, bucket, key);
        // A presigned request is somebody else's, whoever signed it.
        if context.headers().contains_key(AUTHORIZATION) {
            let error = checked.as_ref().err().map(|_| "AccessDenied".to_owned());
            let arrived =
                self.stories.arrived(Some(&credentials.access_key), operation, key.unwrap_or_default().as_bytes());
            self.stories.served(&arrived, Call::simple("S3", operation, bucket, key, error));
        }
        checked.map_err(|Denial(message)| s3_error!(AccessDenied, "{message}"))
    }
}
