//! Failures of a request to the provider.

use key_schema::value::Currency;
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
    /// The provider is too busy. The same request may succeed later.
    #[error("the payment provider answered {0}")]
    Busy(u16),
    /// The provider failed, or cannot do it for now, and answers so again under the same idempotency key. The request
    /// may have been carried out. Under another key, it may succeed later.
    #[error("the payment provider failed with {status}: {message}")]
    Failed { status: u16, message: String },
    /// The amount is below the least that the provider charges a card with. The least depends on the currency.
    #[error("the payment provider does not take this amount: {0}")]
    TooSmall(String),
    /// The provider cannot charge a card with this amount in this currency, or not with every amount in it.
    #[error("the payment provider cannot charge cards with any amount in {0}")]
    NotCharged(Currency),
    /// The provider refuses the request, and will refuse it again.
    #[error("the payment provider refused the request with {status} {code}: {message}")]
    Refused {
        status: u16,
        /// The provider's code for the reason. Empty if it gives none.
        code: String,
        message: String,
    },
    /// The provider does not accept the account's key.
    #[error("the payment provider does not accept the key: {0}")]
    Unauthorized(String),
    /// The provider's answer has another form than its protocol.
    #[error("the payment provider's answer cannot be read: {0}")]
    Unreadable(String),
    /// The secret with the provider's keys cannot be read.
    #[error("the secret with the payment provider's keys cannot be read: {0}")]
    Secret(String),
}

impl Error {
    /// The code for why the provider refuses a command for good, if it does.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::TooSmall(_) => Some("amount_too_small"),
            Self::Refused { code, .. } if code.is_empty() => Some("refused"),
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }
}

impl Failure for Error {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Off | Self::NotCharged(_) => Remedy::Correct,
            Self::Unanswered(_) | Self::Busy(_) | Self::Failed { .. } | Self::Unreadable(_) => Remedy::Retry,
            Self::TooSmall(_) | Self::Refused { .. } | Self::Unauthorized(_) | Self::Secret(_) => Remedy::None,
        }
    }
}
