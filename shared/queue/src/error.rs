//! What can go wrong between a function and the queue.

use aws_sdk_sqs::error::{BoxError, BuildError, ProvideErrorMetadata, SdkError};

/// How SQS says that more is asked than it serves now: of an account, of a queue, or of the key that encrypts it.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html#API_SendMessage_Errors>
const THROTTLES: [&str; 5] = ["RequestThrottled", "ThrottlingException", "Throttling", "KmsThrottled", "OverLimit"];

/// A request to the queue that was not answered as hoped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody answered, or not in time. It may have happened: what is sent again arrives twice.
    #[error("SQS did not answer")]
    Unanswered(#[source] BoxError),
    /// Not now, also after the client's own retries: come back later.
    #[error("SQS throttled the request")]
    Throttled(#[source] BoxError),
    /// SQS refused the request. A defect of ours, or of the deployment.
    #[error("SQS refused the request")]
    Refused(#[source] BoxError),
}

impl<E> From<SdkError<E>> for Error
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E>) -> Self {
        match &error {
            SdkError::ServiceError(service) if service.err().code().is_some_and(is_throttle) => {
                Self::Throttled(error.into())
            }
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

/// Old queues spell a code `AWS.SimpleQueueService.RequestThrottled`.
fn is_throttle(code: &str) -> bool {
    THROTTLES.contains(&code.rsplit('.').next().unwrap_or(code))
}
