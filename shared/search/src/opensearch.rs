//! OpenSearch's REST protocol, of version 2.
//!
//! An index is named `till-products-000001`, and an index that is built later has a greater number. Each has an alias
//! `till-products-000001-written` until it is deleted: writes go to that alias, because a write to the name of an index
//! that is deleted would create it again. The alias `till-products` is the index that is searched.
//!
//! <https://docs.opensearch.org/2.19/api-reference/>

mod auth;
mod documents;
mod indexes;
mod searching;

use std::time::Duration;

use lambda::{Environment, Https, Misconfigured};
use serde::Deserialize;
use serde_json::Value;

use self::auth::Auth;
use crate::Error;

/// The alias of the index that is searched.
const SEARCHED: &str = "till-products";

/// The longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct OpenSearch {
    https: Https,
    auth: Auth,
}

/// A successful answer, or the error of one that may be expected.
enum Reply {
    Done(Value),
    Failed { status: u16, kind: String, reason: String },
}

#[derive(Default, Deserialize)]
struct Failed {
    #[serde(default)]
    error: Value,
}

impl OpenSearch {
    /// A client of the cluster at this base URL, with user and password from this secret, or with signed requests.
    pub(crate) fn new(url: &str, secret: Option<&str>, environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { https: environment.https(url, TIMEOUT)?, auth: Auth::of(url, secret, environment)? })
    }

    /// Sends a request whose success is the only expected answer.
    async fn call(&self, method: &'static str, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        match self.try_call(method, path, body).await? {
            Reply::Done(answer) => Ok(answer),
            Reply::Failed { status, kind, reason } => Err(refused(status, &kind, &reason)),
        }
    }

    async fn try_call(&self, method: &'static str, path: &str, body: Option<&Value>) -> Result<Reply, Error> {
        self.send(method, path, "application/json", body.map(Value::to_string).unwrap_or_default()).await
    }

    /// Sends a request, once.
    async fn send(&self, method: &'static str, path: &str, media_type: &str, body: String) -> Result<Reply, Error> {
        let mut headers = self.auth.headers(method, path, &body).await?;
        if !body.is_empty() {
            headers.push(("content-type", media_type.to_owned()));
        }
        let answer = self.https.send(method, path, &headers, body).await?;
        if (200..300).contains(&answer.status) {
            let body = serde_json::from_slice(&answer.body);
            return body.map(Reply::Done).map_err(|error| Error::Unreadable(error.to_string()));
        }
        let Failed { error } = serde_json::from_slice(&answer.body).unwrap_or_default();
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let (status, kind, reason) = (answer.status, text("type"), text("reason"));
        match status {
            429 | 500.. => Err(Error::Busy { status, message: kind }),
            _ => Ok(Reply::Failed { status, kind, reason }),
        }
    }
}

fn refused(status: u16, kind: &str, reason: &str) -> Error {
    match kind {
        "index_not_found_exception" | "aliases_not_found_exception" => Error::Replaced,
        _ => Error::Refused { status, message: format!("{kind}: {reason}") },
    }
}
