//! Errors of requests to the table. Each variant stands for what the caller does next.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use key_schema::cursor::InvalidCursor;
use lambda::{Failure, Remedy};

use crate::Throttle;

/// A request to the table that failed.
///
/// An outcome that a caller expects, such as a failed condition, is a value of the call and not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// DynamoDB throttled the request, also after the client's own retries. Try again later.
    #[error("DynamoDB throttled the request ({by:?})")]
    Throttled {
        /// The limit that was reached.
        by: Throttle,
        /// The error of the client.
        source: Source,
    },
    /// No answer came in time, or DynamoDB failed. A write may have happened: send it again, or read.
    #[error("DynamoDB did not answer")]
    Unanswered(#[source] Source),
    /// DynamoDB refused the request as invalid. This is a defect of this project.
    #[error("DynamoDB refused the request")]
    Refused(#[source] Source),
    /// An item is missing that another item implies. The cause is a defect of this project, or a change by hand.
    #[error("the table is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// There is no such table in this account and region.
    #[error("DynamoDB has no such table: check its name, the account and the region")]
    NoTable,
    /// DynamoDB refuses every request of this function: a permission or the credentials are missing.
    #[error("DynamoDB denied the request")]
    Denied(#[source] Source),
    /// An item cannot be deserialized as its entity, or an entity cannot be serialized.
    #[error("an item cannot be read as its entity")]
    Item(#[from] serde_dynamo::Error),
    /// The client's cursor does not belong to the list.
    #[error(transparent)]
    Cursor(#[from] InvalidCursor),
}

pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

impl<E> From<SdkError<E, HttpResponse>> for Error
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        let service = match &error {
            SdkError::ServiceError(service) => service,
            SdkError::ConstructionFailure(_) => return Self::Refused(error.into()),
            _ => return Self::Unanswered(error.into()),
        };
        let code = service.err().code();
        if let Some(by) = Throttle::of(code, service.raw()) {
            Self::Throttled { by, source: error.into() }
        } else if code == Some("ValidationException") {
            Self::Refused(error.into())
        } else if code == Some("ResourceNotFoundException") {
            Self::NoTable
        } else if service.raw().status().as_u16() < 500 {
            Self::Denied(error.into())
        } else {
            Self::Unanswered(error.into())
        }
    }
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Cursor(_) => Remedy::Correct,
            Self::Throttled { .. } | Self::Unanswered(_) => Remedy::Retry,
            Self::Refused(_) | Self::Inconsistent(_) | Self::NoTable | Self::Denied(_) | Self::Item(_) => Remedy::None,
        }
    }
}

impl Error {
    /// The budget ended while other requests kept writing the same items.
    pub fn contention(source: impl Into<Source>) -> Self {
        Self::Throttled { by: Throttle::Contention, source: source.into() }
    }
}
