//! Secrets of AWS Secrets Manager: the keys and passwords of services that are not AWS's.
//!
//! **Invariant: the content of a secret is in no log, no error and no `Debug`.**

#![warn(missing_docs)]

use std::fmt;

use aws_sdk_secretsmanager::Client;
use lambda::{Environment, Misconfigured, Service};
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;

/// A secret whose content is a JSON object, read when it is first needed and kept for the life of the execution
/// environment. A new content therefore takes effect in new execution environments.
pub struct Secret<T> {
    client: lambda::Client<Client>,
    id: String,
    form: &'static str,
    content: OnceCell<T>,
}

/// A secret cannot be read, for this reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secret").field(&self.id).finish()
    }
}

impl<T: DeserializeOwned> Secret<T> {
    /// The secret with this ARN. `form` shows what its content looks like.
    ///
    /// # Errors
    /// Region or credentials are missing.
    pub fn of(id: &str, form: &'static str, environment: &Environment) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::SecretsManager, Client::new)?;
        Ok(Self { client, id: id.to_owned(), form, content: OnceCell::new() })
    }

    /// The content.
    ///
    /// # Errors
    /// Secrets Manager refuses or does not answer, or the content has another form.
    pub async fn content(&self) -> Result<&T, Unreadable> {
        self.content.get_or_try_init(|| self.read()).await
    }

    async fn read(&self) -> Result<T, Unreadable> {
        let answer = self.client.get_secret_value().secret_id(&self.id).send().await;
        let answer = answer.map_err(|error| Unreadable(lambda::chain(&error)))?;
        // The parser's message could contain a part of the secret.
        let malformed = |_| Unreadable(format!("it must be {}", self.form));
        serde_json::from_str(answer.secret_string().unwrap_or_default()).map_err(malformed)
    }
}
