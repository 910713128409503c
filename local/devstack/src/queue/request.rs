//! The members of a request, and what SQS answers if they are invalid.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde_json::Value;

/// The most entries of a batch, and the most messages of a receive.
pub(super) const MAX_ENTRIES: i64 = 10;

/// The longest visibility timeout, in seconds.
pub(super) const MAX_VISIBILITY: i64 = 12 * 60 * 60;

/// The error code for a caller whose role does not allow the call. Its status is 403.
pub(super) const ACCESS_DENIED: &str = "AccessDenied";

/// The error code for what could not be written to the file. Its status is 500.
pub(super) const INTERNAL: &str = "InternalError";

/// An answer, or an error.
pub(super) type Outcome<T = Value> = Result<T, Fault>;

/// An error of SQS.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn invalid(value: impl Display, parameter: &str, reason: impl Display) -> Self {
        let message = format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}");
        Self::new("InvalidParameterValue", message)
    }
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        Self::new(INTERNAL, format!("{error:#}"))
    }
}

/// A text of the request, which is not empty.
pub(super) fn text<'request>(request: &'request Value, name: &str) -> Outcome<&'request str> {
    let missing = || Fault::new("MissingParameter", format!("The request must contain the parameter {name}."));
    request[name].as_str().filter(|text| !text.is_empty()).ok_or_else(missing)
}

/// A number of the request, if there is one, which is within this range.
pub(super) fn number(request: &Value, name: &str, range: RangeInclusive<i64>) -> Outcome<Option<i64>> {
    let (least, most) = (range.start(), range.end());
    match request[name].as_i64() {
        Some(value) if !range.contains(&value) => {
            Err(Fault::invalid(value, name, format!("Must be between {least} and {most}, if provided.")))
        }
        value => Ok(value),
    }
}
