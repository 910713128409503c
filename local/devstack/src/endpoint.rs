//! Sets up the tables at a DynamoDB endpoint.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::aws_json::Service;
use crate::option_error::OptionError;
use crate::template::Table;

/// The longest wait for a table to become active. Local tables are active at once.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub(crate) struct Endpoint {
    service: Service,
}

impl Endpoint {
    pub(crate) fn new(url: &str) -> Result<Self> {
        Ok(Self { service: Service::dynamodb(url)? })
    }

    /// Creates these tables, unless they already exist with the same keys and indexes. `origin` is the option that chose
    /// this DynamoDB.
    pub(crate) async fn ensure_tables(&self, tables: &[Table], origin: &'static str) -> Result<()> {
        for table in tables {
            self.ensure_table(table, origin).await?;
        }
        Ok(())
    }

    async fn ensure_table(&self, table: &Table, origin: &'static str) -> Result<()> {
        let name = table.name();
        match self.service.call("CreateTable", &table.creation).await? {
            Ok(_) => self.wait_until_active(name).await?,
            Err(refusal) if refusal.is("ResourceInUseException") => {
                let existing = self.describe(name).await?;
                if shape(&existing) == shape(&table.creation) {
                    return Ok(());
                }
                let message = format!(
                    "the table {name} at {} has other keys or indexes than the template says: delete it or choose another",
                    self.service.url()
                );
                return Err(OptionError::new(origin, message).into());
            }
            Err(refusal) => return Err(refusal.into_error("CreateTable")),
        }

        let Some(attribute) = &table.ttl_attribute else { return Ok(()) };
        let specification = json!({ "AttributeName": attribute, "Enabled": true });
        let request = json!({ "TableName": name, "TimeToLiveSpecification": specification });
        self.service.succeed("UpdateTimeToLive", &request).await?;
        Ok(())
    }

    async fn describe(&self, name: &str) -> Result<Value> {
        let mut answer = self.service.succeed("DescribeTable", &json!({ "TableName": name })).await?;
        Ok(answer["Table"].take())
    }

    async fn wait_until_active(&self, name: &str) -> Result<()> {
        let waiting = async {
            while self.describe(name).await?["TableStatus"] != "ACTIVE" {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            anyhow::Ok(())
        };
        let outcome = tokio::time::timeout(PATIENCE, waiting).await;
        outcome.with_context(|| format!("the table {name} at {} did not become active", self.service.url()))?
    }
}

/// The parts that must agree in two descriptions of a table: the keys, and each index with its keys and projection.
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
