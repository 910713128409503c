//! The template's table.

use anyhow::{Context, Result, bail};
use serde_json::{Value as Json, json};
use yaml_serde::{Mapping, Value as Yaml};

use super::of_type;
use crate::intrinsic::Scope;

/// The template's table: its logical id and its properties.
pub(super) fn only(resources: &Mapping) -> Result<(&str, &Yaml)> {
    let mut tables = of_type(resources, "AWS::DynamoDB::Table");
    let (id, table) = tables.next().context("Resources has no AWS::DynamoDB::Table")?;
    if let Some((second, _)) = tables.next() {
        bail!("Resources has two tables, {id} and {second}, and the laptop stack knows one");
    }
    Ok((id, table.get("Properties").with_context(|| format!("{id}: Properties is missing"))?))
}

/// The `CreateTable` request: keys, indexes and stream, without billing and monitoring.
pub(super) fn creation(scope: &Scope, properties: &Yaml, name: &str) -> Result<Json> {
    let mut request = json!({ "TableName": name, "BillingMode": "PAY_PER_REQUEST" });
    for property in ["KeySchema", "AttributeDefinitions"] {
        request[property] = scope.required(properties, property)?;
    }

    if let Some(indexes) = properties.get("GlobalSecondaryIndexes") {
        let mut indexes = scope.resolve(indexes).context("GlobalSecondaryIndexes")?;
        for index in indexes.as_array_mut().context("GlobalSecondaryIndexes is not a list")? {
            let index = index.as_object_mut().context("GlobalSecondaryIndexes: an index is not a mapping")?;
            index.retain(|property, _| matches!(property.as_str(), "IndexName" | "KeySchema" | "Projection"));
        }
        request["GlobalSecondaryIndexes"] = indexes;
    }

    if let Some(stream) = properties.get("StreamSpecification") {
        let view = scope.required(stream, "StreamViewType").context("StreamSpecification")?;
        request["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": view });
    }
    Ok(request)
}

/// The attribute that holds an item's time to live, if there is one.
pub(super) fn ttl_attribute(scope: &Scope, properties: &Yaml) -> Result<Option<String>> {
    let Some(ttl) = properties.get("TimeToLiveSpecification") else { return Ok(None) };
    Ok(Some(scope.required_text(ttl, "AttributeName").context("TimeToLiveSpecification")?))
}
