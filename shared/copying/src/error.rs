//! The outcomes with which a worker stops.

use lambda::{Failure, Remedy};

/// A worker stopped before it was done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another worker has the segment, or another run has started. There is nothing left to do.
    #[error("another worker or another run has taken over")]
    Superseded,
    /// The migration has no such phase or run: somebody has to start it first.
    #[error("{0}")]
    NotNow(String),
    /// A request to one of the tables failed.
    #[error(transparent)]
    Table(#[from] table::Error),
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Superseded | Self::NotNow(_) => Remedy::None,
            Self::Table(error) => error.remedy(),
        }
    }
}
