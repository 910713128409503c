//! The embedded Secrets Manager: `GetSecretValue` on a loopback port, of secrets that the stack's user hands in.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::browser_guard::BrowserGuard;
use crate::iam::{self, Denial, Guard};
use crate::listen::{unguessable, url_of};
use crate::problem::answer;
use crate::stories::{Call, Stories};

/// A running Secrets Manager. It stops when dropped.
pub(crate) struct Secrets {
    url: String,
    serving: JoinHandle<std::io::Result<()>>,
}

type Served = (Arc<BTreeMap<String, String>>, Arc<Guard>, Arc<Stories>);

impl Secrets {
    /// Serves these secrets, by ARN.
    pub(crate) async fn start(
        secrets: BTreeMap<String, String>,
        guard: Arc<Guard>,
        stories: Arc<Stories>,
    ) -> Result<Self> {
        let listener = unguessable().await?;
        let (url, browsers) = (url_of(&listener)?, BrowserGuard::of(&listener)?);
        let router = Router::new().fallback(handle).with_state((Arc::new(secrets), guard, stories));
        let serving = tokio::spawn(axum::serve(listener, browsers.protect(router)).into_future());
        Ok(Self { url, serving })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GetSecretValue {
    secret_id: String,
}

async fn handle(State((secrets, guard, stories)): State<Served>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let arrived = stories.arrived(iam::caller(&headers), "GetSecretValue", &body);
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let outcome = match target {
        "secretsmanager.GetSecretValue" => {
            let request = serde_json::from_slice::<GetSecretValue>(&body);
            request.map_err(|error| ("InvalidRequestException", error.to_string())).and_then(
                |GetSecretValue { secret_id }| {
                    let checked = guard.check_secret(iam::caller(&headers), &secret_id);
                    checked.map_err(|Denial(message)| ("AccessDeniedException", message))?;
                    let missing = || ("ResourceNotFoundException", format!("there is no secret {secret_id}"));
                    let text = secrets.get(&secret_id).ok_or_else(missing)?;
                    Ok(json!({ "ARN": secret_id, "Name": secret_id, "SecretString": text }))
                },
            )
        }
        other => Err(("UnknownOperationException", format!("{other:?} is not known to the laptop stack"))),
    };
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let error = outcome.as_ref().err().map(|(code, _)| (*code).to_owned());
    let secret = request["SecretId"].as_str().and_then(|arn| arn.rsplit(':').next()).unwrap_or_default();
    stories.served(&arrived, Call::simple("Secrets Manager", "GetSecretValue", secret, None, error));
    let (status, body) = match outcome {
        Ok(body) => (StatusCode::OK, body),
        Err((code, message)) => (StatusCode::BAD_REQUEST, json!({ "__type": code, "message": message })),
    };
    answer(status, "application/x-amz-json-1.1", body.to_string())
}
