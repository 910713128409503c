//! What can go wrong between a function and the queue.

use aws_sdk_sqs::error::{BoxError, BuildError, SdkError};

/// The queue did not take it. It may have: what is sent again arrives twice.
#[derive(Debug, thiserror::Error)]
#[error("SQS did not take the message")]
pub struct Error(#[source] BoxError);

impl<E, R> From<SdkError<E, R>> for Error
where
    E: std::error::Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    fn from(error: SdkError<E, R>) -> Self {
        Self(error.into())
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self(error.into())
    }
}
