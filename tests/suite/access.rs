//! Authorisation of every route. The requests are the sample events, one for each route. The rules follow from the
//! template's scopes and the names of the parameters. So a new route is tested automatically, and the tests fail until
//! the owner of each of its parameters is declared.

mod ownership;
mod sight;
mod tokens;

use reqwest::Method;
use serde_json::Value;
use shop::client::{Client, Reply};
use shop::events::event;

use crate::completeness::texts;

/// The request of a sample event.
pub struct Sample {
    method: Method,
    pub path: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    /// The accepted scopes, of which one is enough. Empty for a public route.
    scopes: Vec<String>,
    /// The caller: the token's `sub`.
    caller: String,
    /// The address that the token proves, if it proves one.
    verified_email: Option<String>,
}

impl Sample {
    /// The sample request of this function.
    pub fn of(function: &str) -> Self {
        let event = event(function);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let query = text(&event["rawQueryString"]).filter(|query| !query.is_empty());
        let path = text(&event["rawPath"]).expect("a path");
        let jwt = &event["requestContext"]["authorizer"]["jwt"];
        let headers = event["headers"].as_object().expect("headers").iter();
        let meant = headers
            .filter(|(name, _)| ["guest-secret", "idempotency-key", "if-match", "prefer"].contains(&name.as_str()));
        Self {
            method: event["requestContext"]["http"]["method"]
                .as_str()
                .and_then(|name| name.parse().ok())
                .expect("a method"),
            path: query.map_or(path.clone(), |query| format!("{path}?{query}")),
            headers: meant.map(|(name, value)| (name.clone(), text(value).expect("a text"))).collect(),
            body: text(&event["body"]),
            scopes: texts(&jwt["scopes"]),
            caller: text(&jwt["claims"]["sub"]).unwrap_or_default(),
            verified_email: text(&jwt["claims"]["email"]),
        }
    }

    /// The same request of another guest.
    pub fn with_secret(mut self, secret: &str) -> Self {
        self.headers.retain(|(name, _)| name != "guest-secret");
        self.headers.push(("guest-secret".to_owned(), secret.to_owned()));
        self
    }

    pub async fn send(&self, client: &Client) -> Reply {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        client.send(self.method.clone(), &self.path, &headers, self.body.clone()).await
    }
}
