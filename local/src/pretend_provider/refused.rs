//! The provider's refusals, with Stripe's codes. <https://docs.stripe.com/error-codes>

use axum::http::Method;
use serde_json::{Value, json};

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    kind: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) message: String,
    /// Whether the same idempotency key gets the same refusal again.
    pub(super) is_kept: bool,
}

impl Refused {
    /// A refusal that the idempotency key keeps.
    pub(super) fn new(status: u16, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { status, kind: "invalid_request_error", code, message: message.into(), is_kept: true }
    }

    /// A refusal before the request was carried out, which no idempotency key keeps.
    pub(super) fn early(status: u16, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { is_kept: false, ..Self::new(status, code, message) }
    }

    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Self::early(400, Some("parameter_invalid"), message)
    }

    /// The answer to an amount, or another number, that is none.
    pub(super) fn not_an_integer(name: &str) -> Self {
        Self::early(400, Some("parameter_invalid_integer"), format!("Invalid integer: {name}"))
    }

    pub(super) fn parameter_missing(name: &str) -> Self {
        Self::early(400, Some("parameter_missing"), format!("Missing required param: {name}."))
    }

    pub(super) fn missing(kind: &str, id: &str) -> Self {
        Self::new(404, Some("resource_missing"), format!("No such {kind}: '{id}'"))
    }

    pub(super) fn unauthorized() -> Self {
        Self::early(401, None, "Send the account's key as a bearer token, or the client_secret to confirm.")
    }

    pub(super) fn unknown(method: &Method, path: &str) -> Self {
        Self::early(404, None, format!("The pretend payment provider does not know {method} {path}."))
    }

    pub(super) fn other_request(key: &str) -> Self {
        let message = format!(
            "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a \
             key other than '{key}' if you meant to execute a different request."
        );
        Self { kind: "idempotency_error", ..Self::early(400, None, message) }
    }

    pub(super) fn key_in_use() -> Self {
        let message =
            "There is currently another in-progress request using this Idempotency Key. Please try again later.";
        Self::early(409, Some("idempotency_key_in_use"), message)
    }

    pub(super) fn rate_limit() -> Self {
        Self::early(429, Some("rate_limit"), "Request rate limit exceeded.")
    }

    /// Stripe answers 429 here, too. <https://docs.stripe.com/rate-limits#object-lock-timeouts>
    pub(super) fn lock_timeout() -> Self {
        let message = "This object cannot be accessed right now because another API request or Stripe process is currently \
                       accessing it.";
        Self::early(429, Some("lock_timeout"), message)
    }

    pub(super) fn server_error() -> Self {
        Self { kind: "api_error", ..Self::new(500, None, "An unknown error occurred.") }
    }

    /// The error as the API shows it.
    pub(super) fn body(&self) -> Value {
        let mut error = json!({ "type": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["code"] = json!(code);
        }
        json!({ "error": error })
    }
}
