//! The keys of the provider's account, from AWS Secrets Manager.

use aws_sdk_secretsmanager::Client;
use lambda::{Environment, Misconfigured, Service};
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::Error;

/// The keys, read when they are first needed and kept for the life of the execution environment. A new secret therefore
/// takes effect in new execution environments; docs/payments.md says how to change it without a refused request.
#[derive(Debug)]
pub(crate) struct Secret {
    client: lambda::Client<Client>,
    id: String,
    keys: OnceCell<Keys>,
}

/// The secret's content, a JSON object.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Keys {
    /// The key with which Till calls the provider.
    pub(crate) api_key: String,
    /// The key with which the provider signs what it sends.
    pub(crate) webhook_secret: String,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Secret {
    pub(crate) fn of(id: &str, environment: &Environment) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::SecretsManager, Client::new)?;
        Ok(Self { client, id: id.to_owned(), keys: OnceCell::new() })
    }

    /// The keys.
    pub(crate) async fn keys(&self) -> Result<&Keys, Error> {
        self.keys.get_or_try_init(|| self.read()).await
    }

    async fn read(&self) -> Result<Keys, Error> {
        let answer = self.client.get_secret_value().secret_id(&self.id).send().await;
        let answer = answer.map_err(|error| Error::Secret(lambda::chain(&error)))?;
        // The parser's message could contain a part of the secret.
        let malformed = || Error::Secret(r#"it must be {"apiKey": "...", "webhookSecret": "..."}"#.to_owned());
        serde_json::from_str(answer.secret_string().unwrap_or_default()).map_err(|_| malformed())
    }
}
