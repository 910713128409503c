//! What can go wrong between a function and the queue.

use aws_sdk_sqs::error::{BoxError, BuildError, SdkError};

/// A request to the queue that was not answered as hoped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody answered, or not in time. It may have happened: what is sent again arrives twice.
    #[error("SQS did not answer")]
    Unanswered(#[source] BoxError),
    /// SQS refused the request. A defect of ours, or of the deployment.
    #[error("SQS refused the request")]
    Refused(#[source] BoxError),
}

impl<E> From<SdkError<E>> for Error
where
    E: std::error::Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E>) -> Self {
        match &error {
            SdkError::ServiceError(service) if service.raw().status().as_u16() < 500 => Self::Refused(error.into()),
            SdkError::ConstructionFailure(_) => Self::Refused(error.into()),
            _ => Self::Unanswered(error.into()),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::Refused(error.into())
    }
}
