//! The time at which an authorized payment is captured.

use lambda::{Environment, FromEnvironment, Misconfigured};

/// The time at which an authorized payment is captured: the variable `CAPTURE_WHEN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureWhen {
    /// When the order is shipped (`SHIPPED`).
    Shipped,
    /// When staff ask for it (`DEMAND`).
    Demanded,
}

impl FromEnvironment for CaptureWhen {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        match environment.required("CAPTURE_WHEN")? {
            "SHIPPED" => Ok(Self::Shipped),
            "DEMAND" => Ok(Self::Demanded),
            other => Err(Misconfigured::Invalid(format!("CAPTURE_WHEN must be SHIPPED or DEMAND, not {other:?}"))),
        }
    }
}
