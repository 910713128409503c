//! What can go wrong between a function and the table, by what the caller does next.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use key_schema::value::Invalid;

/// A request to the table that was not answered as hoped.
///
/// Outcomes that a caller expects, such as a failed condition, are values of the calls and not errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// DynamoDB is short of capacity, also after the client's own retries: come back later.
    #[error("DynamoDB throttled the request")]
    Throttled(#[source] Source),
    /// Nobody answered, or not in time. A write may have happened: ask again, or read.
    #[error("DynamoDB did not answer")]
    Unanswered(#[source] Source),
    /// DynamoDB refused the request. A defect of ours, or of the deployment.
    #[error("DynamoDB refused the request")]
    Refused(#[source] Source),
    /// An item is not what its kind should be.
    #[error("an item does not read as its entity")]
    Item(#[from] serde_dynamo::Error),
    /// The client's cursor does not fit the list.
    #[error(transparent)]
    Cursor(#[from] Invalid),
}

type Source = Box<dyn std::error::Error + Send + Sync>;

impl<E> From<SdkError<E, HttpResponse>> for Error
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        match &error {
            SdkError::ServiceError(service) if is_throttling(service.err().code()) => Self::Throttled(error.into()),
            SdkError::ServiceError(service) if service.raw().status().as_u16() < 500 => Self::Refused(error.into()),
            SdkError::ConstructionFailure(_) => Self::Refused(error.into()),
            _ => Self::Unanswered(error.into()),
        }
    }
}

/// The codes by which DynamoDB throttles, of requests and of cancelled transactions.
pub(crate) fn is_throttling(code: Option<&str>) -> bool {
    matches!(
        code,
        Some(
            "ProvisionedThroughputExceededException"
                | "RequestLimitExceeded"
                | "ThrottlingException"
                | "ProvisionedThroughputExceeded"
                | "ThrottlingError"
        )
    )
}
