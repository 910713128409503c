//! Failures of a request to the provider.

use lambda::{Failure, NoAnswer, Remedy};

/// A request to the provider failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The deployment has no payment provider.
    #[error("This shop takes no card payments.")]
    Off,
    /// No answer came. The provider may have carried the request out. The same request again is safe, because it has the
    /// same idempotency key.
    #[error("the payment provider did not answer")]
    Unanswered(#[from] NoAnswer),
    /// The provider is too busy, or failed by itself. The same request may succeed later.
    #[error("the payment provider answered {0}")]
    Busy(u16),
    /// The amount is below the least that the provider charges a card with. The least depends on the currency.
    #[error("the payment provider takes no amount as small as this: {0}")]
    TooSmall(String),
    /// The provider refuses the request, and will refuse it again.
    #[error("the payment provider refused the request with {status}: {message}")]
    Refused { status: u16, message: String },
    /// The provider's answer has another form than its protocol.
    #[error("the payment provider's answer cannot be read: {0}")]
    Unreadable(String),
    /// The secret with the provider's keys cannot be read.
    #[error("the secret with the payment provider's keys cannot be read: {0}")]
    Secret(String),
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Off => Remedy::Correct,
            Self::Unanswered(_) | Self::Busy(_) => Remedy::Retry,
            Self::TooSmall(_) | Self::Refused { .. } | Self::Unreadable(_) | Self::Secret(_) => Remedy::None,
        }
    }
}
