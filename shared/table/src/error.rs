//! What can go wrong between a function and the table, by what the caller does next.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use key_schema::value::Invalid;

use crate::Throttle;

/// A request to the table that was not answered as hoped.
///
/// Outcomes that a caller expects, such as a failed condition, are values of the calls and not errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not now, also after the client's own retries: come back later.
    #[error("DynamoDB throttled the request ({by:?})")]
    Throttled {
        /// Why.
        by: Throttle,
        /// What it said.
        source: Source,
    },
    /// Nobody answered, or not in time. A write may have happened: ask again, or read.
    #[error("DynamoDB did not answer")]
    Unanswered(#[source] Source),
    /// DynamoDB refused the request for what it says. A defect of ours.
    #[error("DynamoDB refused the request")]
    Refused(#[source] Source),
    /// The items contradict each other: one is missing that another implies. A defect, ours or of somebody who wrote the
    /// table by hand.
    #[error("the table is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// DynamoDB refuses whatever this function asks: a permission, the table or the credentials are missing.
    #[error("DynamoDB denied the request")]
    Denied(#[source] Source),
    /// An item is not what its kind should be.
    #[error("an item does not read as its entity")]
    Item(#[from] serde_dynamo::Error),
    /// The client's cursor does not fit the list.
    #[error(transparent)]
    Cursor(#[from] Invalid),
}

pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

impl<E> From<SdkError<E, HttpResponse>> for Error
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        let by = match &error {
            SdkError::ServiceError(service) => Throttle::of(service.err().code(), service.raw()),
            _ => None,
        };
        if let Some(by) = by {
            return Self::Throttled { by, source: error.into() };
        }
        match &error {
            SdkError::ServiceError(service) if service.err().code() == Some("ValidationException") => {
                Self::Refused(error.into())
            }
            SdkError::ServiceError(service) if service.raw().status().as_u16() < 500 => Self::Denied(error.into()),
            SdkError::ConstructionFailure(_) => Self::Refused(error.into()),
            _ => Self::Unanswered(error.into()),
        }
    }
}

impl Error {
    /// The time for trying again ended while others were in the way.
    pub fn contention(source: impl Into<Source>) -> Self {
        Self::Throttled { by: Throttle::Contention, source: source.into() }
    }
}
