//! Failures of a request to the search index.

use key_schema::cursor::InvalidCursor;
use lambda::{Failure, NoAnswer, Remedy};

/// A request to the search index failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The deployment has no search index.
    #[error("This shop has no search.")]
    Off,
    /// No answer came. A write may have happened; the same write again is safe.
    #[error("the search index did not answer")]
    Unanswered(#[from] NoAnswer),
    /// The index is too busy, or failed by itself. The same request may succeed later.
    #[error("the search index answered {status}: {message}")]
    Busy {
        /// The HTTP status.
        status: u16,
        /// The error's type.
        message: String,
    },
    /// There is no index to search: nobody has built it yet.
    #[error("the search index is not built: run `cargo local reindex`")]
    NotBuilt,
    /// The index is no longer written, because a new one has replaced it.
    #[error("the search index was replaced by another one")]
    Replaced,
    /// Somebody else wrote the document meanwhile.
    #[error("others were writing the document for too long")]
    Contention,
    /// The index refuses the request, and will refuse it again.
    #[error("the search index refused the request with {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error's type and reason.
        message: String,
    },
    /// The answer has another form than the protocol.
    #[error("the search index's answer cannot be read: {0}")]
    Unreadable(String),
    /// The request cannot be signed, or the secret with user and password cannot be read.
    #[error("the search index cannot be called: {0}")]
    Credentials(String),
    /// The table cannot be read.
    #[error(transparent)]
    Table(#[from] table::Error),
    /// The client's cursor does not belong to this search.
    #[error(transparent)]
    Cursor(#[from] InvalidCursor),
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Off | Self::Cursor(_) => Remedy::Correct,
            Self::Unanswered(_) | Self::Busy { .. } | Self::NotBuilt | Self::Replaced | Self::Contention => {
                Remedy::Retry
            }
            Self::Refused { .. } | Self::Unreadable(_) | Self::Credentials(_) => Remedy::None,
            Self::Table(error) => error.remedy(),
        }
    }
}

impl From<secret::Unreadable> for Error {
    fn from(error: secret::Unreadable) -> Self {
        Self::Credentials(format!("its secret cannot be read: {error}"))
    }
}
