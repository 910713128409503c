//! A DynamoDB endpoint, spoken to in its own JSON over HTTP: enough of it to set the table up.
//!
//! It is the same for the embedded engine and for another local DynamoDB, which is why it does not call the engine's
//! library. The signature is a dummy: local endpoints check that there is one, not that it is right.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::template::Template;

const DUMMY_SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, \
                               SignedHeaders=host;x-amz-date;x-amz-target, Signature=0";

/// How long a table may take to become active. Local ones are at once.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub(crate) struct Endpoint {
    client: reqwest::Client,
    url: String,
}

impl Endpoint {
    pub(crate) fn new(url: &str) -> Result<Self> {
        Ok(Self { client: local_client()?, url: url.to_owned() })
    }

    /// Creates the template's table, unless it is there already with the same keys and indexes.
    pub(crate) async fn ensure_table(&self, template: &Template) -> Result<()> {
        let name = template.table_name();
        match self.call("CreateTable", &template.table).await? {
            Ok(_) => self.wait_until_active(name).await?,
            Err(refusal) if refusal.is("ResourceInUseException") => {
                let existing = self.describe(name).await?;
                ensure!(
                    shape(&existing) == shape(&template.table),
                    "the table {name} at {} has other keys or indexes than template.yaml says: delete it, or choose \
                     another place with --data",
                    self.url
                );
                return Ok(());
            }
            Err(refusal) => return Err(refusal.into_error("CreateTable")),
        }

        let Some(attribute) = &template.ttl_attribute else { return Ok(()) };
        let specification = json!({ "AttributeName": attribute, "Enabled": true });
        let request = json!({ "TableName": name, "TimeToLiveSpecification": specification });
        match self.call("UpdateTimeToLive", &request).await? {
            Ok(_) => Ok(()),
            Err(refusal) => Err(refusal.into_error("UpdateTimeToLive")),
        }
    }

    async fn describe(&self, name: &str) -> Result<Value> {
        match self.call("DescribeTable", &json!({ "TableName": name })).await? {
            Ok(mut answer) => Ok(answer["Table"].take()),
            Err(refusal) => Err(refusal.into_error("DescribeTable")),
        }
    }

    async fn wait_until_active(&self, name: &str) -> Result<()> {
        let waiting = async {
            while self.describe(name).await?["TableStatus"] != "ACTIVE" {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            anyhow::Ok(())
        };
        let outcome = tokio::time::timeout(PATIENCE, waiting).await;
        outcome.with_context(|| format!("the table {name} at {} did not become active", self.url))?
    }

    /// One call; what the endpoint refuses is a value, and only an unreachable one is an error.
    async fn call(&self, action: &str, request: &Value) -> Result<Result<Value, Refusal>> {
        let unreachable = || format!("no DynamoDB answers at {}", self.url);
        let response = self
            .client
            .post(&self.url)
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{action}"))
            .header("x-amz-date", "20260101T000000Z")
            .header("authorization", DUMMY_SIGNATURE)
            .body(request.to_string())
            .send()
            .await
            .with_context(unreachable)?;

        let succeeded = response.status().is_success();
        let body: Value = response.json().await.with_context(unreachable)?;
        Ok(if succeeded { Ok(body) } else { Err(Refusal(body)) })
    }
}

/// A client for this machine: whatever proxy the environment names is not for it.
pub(crate) fn local_client() -> Result<reqwest::Client> {
    reqwest::Client::builder().no_proxy().build().context("cannot make an HTTP client")
}

struct Refusal(Value);

impl Refusal {
    fn is(&self, kind: &str) -> bool {
        self.0["__type"].as_str().is_some_and(|name| name.ends_with(kind))
    }

    fn into_error(self, action: &str) -> anyhow::Error {
        let Self(body) = self;
        let message = body["message"].as_str().or(body["Message"].as_str()).unwrap_or("no reason given");
        anyhow!("{action} was refused: {message}")
    }
}

/// What must agree between two descriptions of one table: the keys, and each index with its keys and projection.
fn shape(table: &Value) -> Value {
    let indexes: serde_json::Map<_, _> = table["GlobalSecondaryIndexes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|index| {
            let name = index["IndexName"].as_str()?.to_owned();
            Some((name, json!([index["KeySchema"], index["Projection"]["ProjectionType"]])))
        })
        .collect();
    json!({ "keys": table["KeySchema"], "indexes": indexes })
}
