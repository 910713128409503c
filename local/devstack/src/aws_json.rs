//! A client for AWS services on this machine that speak AWS's JSON protocol.
//!
//! The client works for embedded services and for any other local endpoint, so nothing here calls the libraries of the
//! embedded ones. Its signature is a dummy: local endpoints only check that there is one.

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::resource::REGION;

/// The access key of callers that are not functions. They may do anything.
pub(crate) const NO_FUNCTION: &str = "local";

/// One service at one base URL.
#[derive(Clone)]
pub struct Service {
    client: reqwest::Client,
    url: String,
    /// The access key that signs the calls.
    caller: String,
    name: &'static str,
    target: &'static str,
}

impl Service {
    /// The `DynamoDB` at this base URL.
    ///
    /// # Errors
    /// There is no HTTP client on this machine.
    pub fn dynamodb(url: &str) -> Result<Self> {
        Self::new(url, "DynamoDB", "DynamoDB_20120810")
    }

    /// The streams of the `DynamoDB` at this base URL.
    ///
    /// # Errors
    /// As those of [`dynamodb`](Self::dynamodb).
    pub fn dynamodb_streams(url: &str) -> Result<Self> {
        Ok(Self { target: "DynamoDBStreams_20120810", ..Self::dynamodb(url)? })
    }

    pub(crate) fn sqs(url: &str) -> Result<Self> {
        Self::new(url, "SQS", "AmazonSQS")
    }

    fn new(url: &str, name: &'static str, target: &'static str) -> Result<Self> {
        let caller = NO_FUNCTION.to_owned();
        Ok(Self { client: local_client()?, url: url.to_owned(), caller, name, target })
    }

    /// The same service, called as this function: a call that its role does not allow is refused.
    pub(crate) fn signed_by(&self, function: &str) -> Self {
        Self { caller: function.to_owned(), ..self.clone() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Calls an action. A refusal is a value; an error means that the service cannot be reached.
    ///
    /// # Errors
    /// The service cannot be reached.
    pub async fn call(&self, action: &str, request: &Value) -> Result<Result<Value, Refusal>> {
        let unreachable = || format!("no {} answers at {}", self.name, self.url);
        let scope = self.name.to_lowercase();
        let response = self
            .client
            .post(&self.url)
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("{}.{action}", self.target))
            .header("x-amz-date", "20260101T000000Z")
            .header("authorization", dummy_signature(&self.caller, &scope))
            .body(request.to_string())
            .send()
            .await
            .with_context(unreachable)?;

        let succeeded = response.status().is_success();
        let body = response.bytes().await.with_context(unreachable)?;
        // Several SQS actions answer with an empty body.
        let body =
            if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).with_context(unreachable)? };
        Ok(if succeeded { Ok(body) } else { Err(Refusal(body)) })
    }

    /// Calls an action, and turns a refusal into an error.
    ///
    /// # Errors
    /// The service cannot be reached, or refuses the call.
    pub async fn succeed(&self, action: &str, request: &Value) -> Result<Value> {
        self.call(action, request).await?.map_err(|refusal| refusal.into_error(action))
    }
}

/// An `Authorization` header of this access key for this service, with a signature that is not valid.
pub(crate) fn dummy_signature(access_key: &str, service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential={access_key}/20260101/{REGION}/{service}/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-target, Signature=0"
    )
}

/// An HTTP client for this machine, which ignores the proxy settings of the environment.
pub(crate) fn local_client() -> Result<reqwest::Client> {
    reqwest::Client::builder().no_proxy().build().context("cannot make an HTTP client")
}

/// A service's refusal of a call.
#[derive(Debug)]
pub struct Refusal(pub(crate) Value);

impl Refusal {
    /// Whether its exception has this name, for example `ResourceInUseException`.
    pub fn is(&self, kind: &str) -> bool {
        self.0["__type"].as_str().is_some_and(|name| name.ends_with(kind))
    }

    /// The refusal of this action as an error.
    pub fn into_error(self, action: &str) -> anyhow::Error {
        let Self(body) = self;
        let message = body["message"].as_str().or(body["Message"].as_str()).unwrap_or("no reason given");
        anyhow!("{action} was refused: {message}")
    }
}
