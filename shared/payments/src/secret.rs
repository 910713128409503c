//! The keys of the provider's account, from AWS Secrets Manager. docs/payments.md says how to change them without a
//! refused request.

use serde::Deserialize;

use crate::Error;

/// The secret with the keys.
pub(crate) type Secret = secret::Secret<Keys>;

/// The form of the secret's content.
pub(crate) const FORM: &str = r#"{"apiKey": "...", "webhookSecret": "..."}"#;

/// The secret's content, a JSON object.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Keys {
    /// The key with which Till calls the provider.
    pub(crate) api_key: String,
    /// The key with which the provider signs what it sends.
    pub(crate) webhook_secret: String,
}

impl From<secret::Unreadable> for Error {
    fn from(error: secret::Unreadable) -> Self {
        Self::Secret(error.to_string())
    }
}
