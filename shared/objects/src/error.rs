//! The outcomes of requests that did not do what they were for.

use std::time::Duration;

use lambda::{Failure, NoAnswer, Remedy};

/// A request to S3 failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// S3 refused the request. `code` is S3's own word, such as `NoSuchBucket`.
    #[error("S3 answers {status} {code} to {request}: {message}")]
    Refused {
        /// The method and the key.
        request: String,
        /// The status of the answer.
        status: u16,
        /// S3's word for the error; empty if the answer has none.
        code: String,
        /// S3's explanation.
        message: String,
    },
    /// There was no answer. The request may have been carried out.
    #[error("S3 does not answer {request}")]
    Unanswered {
        /// The method and the key.
        request: String,
        /// The last attempt's failure.
        source: NoAnswer,
    },
    /// A request was given up, because its answer took too long. It may have been carried out.
    #[error("S3 has not answered within {0:?}")]
    Late(Duration),
    /// A request could not be signed, or an answer could not be read.
    #[error("{0}")]
    Invalid(String),
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Refused { status, .. } if *status < 500 => Remedy::None,
            Self::Refused { .. } | Self::Unanswered { .. } | Self::Late(_) => Remedy::Retry,
            Self::Invalid(_) => Remedy::None,
        }
    }
}

impl Error {
    /// Whether S3 refused the request with this word.
    pub fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected)
    }
}
