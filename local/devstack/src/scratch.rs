//! A table for one computation: an embedded DynamoDB in memory with the tables of a template, and nothing else.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::aws_json::Service;
use crate::endpoint::Endpoint;
use crate::engine::Engine;
use crate::template::Template;

/// The first table of a template in memory. It ends when dropped.
pub struct Scratch {
    engine: Engine,
    service: Service,
    name: String,
}

impl Scratch {
    /// Starts the engine and creates the tables.
    pub async fn start(template: &Template) -> Result<Self> {
        let engine = Engine::start(0, None).await?;
        Endpoint::new(engine.own_url())?.ensure_tables(&template.tables, "data").await?;
        let name = template.tables.first().context("the template has no table")?.name().to_owned();
        Ok(Self { service: Service::dynamodb(engine.own_url())?, engine, name })
    }

    /// The base URL of DynamoDB.
    pub fn url(&self) -> &str {
        self.engine.own_url()
    }

    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.name
    }

    /// Writes an item, which is in DynamoDB's JSON.
    pub async fn put(&self, item: &Value) -> Result<()> {
        self.service.succeed("PutItem", &json!({ "TableName": self.name, "Item": item })).await.map(|_| ())
    }

    /// All items, in DynamoDB's JSON.
    pub async fn items(&self) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut request = json!({ "TableName": self.name });
        loop {
            let mut page = self.service.succeed("Scan", &request).await?;
            items.extend(page["Items"].as_array_mut().into_iter().flat_map(std::mem::take));
            match page["LastEvaluatedKey"].take() {
                Value::Null => return Ok(items),
                last => request["ExclusiveStartKey"] = last,
            }
        }
    }
}
