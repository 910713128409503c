//! What the sender of a request can do after it failed.

use std::error::Error;

/// An error of a service that a function calls. A crate that calls a service implements this for its errors, and the
/// crate `http-api` makes a status of it.
pub trait Failure: Error + Send + Sync + 'static {
    fn remedy(&self) -> Remedy;
}

/// What the sender of the request can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Correct the request. The error's text says what is invalid.
    Correct,
    /// Send the same request again, later.
    Retry,
    /// Nothing: the cause is a defect, or an incomplete deployment.
    None,
}
