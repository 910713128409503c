//! Errors of requests to the queue. Each variant stands for what the caller does next.

use aws_sdk_sqs::error::{BoxError, BuildError, ProvideErrorMetadata, SdkError};
use lambda::{Failure, Remedy};

/// The codes with which SQS throttles a request: for the limits of an account, of a queue, or of its encryption key.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html#API_SendMessage_Errors>
const THROTTLES: [&str; 5] = ["RequestThrottled", "ThrottlingException", "Throttling", "KmsThrottled", "OverLimit"];

/// A request to the queue that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer came in time, or SQS failed. The request may have taken effect: a message that is sent again may
    /// arrive twice.
    #[error("SQS did not answer")]
    Unanswered(#[source] BoxError),
    /// SQS throttled the request, also after the client's own retries. Try again later.
    #[error("SQS throttled the request")]
    Throttled(#[source] BoxError),
    /// SQS refused the request. This is a defect of this project or of the deployment.
    #[error("SQS refused the request")]
    Refused(#[source] BoxError),
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Unanswered(_) | Self::Throttled(_) => Remedy::Retry,
            Self::Refused(_) => Remedy::None,
        }
    }
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

/// Compares without a prefix such as that of `AWS.SimpleQueueService.RequestThrottled`.
fn is_throttle(code: &str) -> bool {
    THROTTLES.contains(&code.rsplit('.').next().unwrap_or(code))
}
