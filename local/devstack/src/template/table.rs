//! The template's tables.

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};
use yaml_serde::{Mapping, Value as Yaml};

use super::{declared, kebab};
use crate::intrinsic::Scope;
use crate::resource::Resource;

/// A `DynamoDB` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The resource's name in the template: `Notes`.
    pub logical_id: String,
    /// The body of the `CreateTable` request that makes this table.
    pub creation: Json,
    /// The attribute that holds an item's time to live, if the table has one.
    pub ttl_attribute: Option<String>,
}

impl Table {
    /// The table's name.
    pub fn name(&self) -> &str {
        self.creation["TableName"].as_str().unwrap_or_default()
    }

    pub(super) fn has_stream(&self) -> bool {
        self.creation.get("StreamSpecification").is_some()
    }
}

/// Reads every table of this deployment, and makes it known to references.
///
/// A table without a `TableName` has the deployment's name for tables. If it is not the template's first table, its
/// logical id follows, also if this deployment leaves the first one out: a table keeps its name.
pub(super) fn read_all(scope: &mut Scope, resources: &Mapping) -> Result<Vec<Table>> {
    let mut tables: Vec<Table> = Vec::new();
    for (position, (id, resource)) in declared(resources, "AWS::DynamoDB::Table").enumerate() {
        if !scope.exists(resource).with_context(|| id.to_owned())? {
            continue;
        }
        let name = match position {
            0 => scope.table_name().to_owned(),
            _ => format!("{}-{}", scope.table_name(), kebab(id)),
        };
        let table = read(scope, id, resource, &name).with_context(|| id.to_owned())?;
        let twin = tables.iter().find(|other| other.name() == table.name());
        ensure!(twin.is_none(), "{id}: TableName: {} is already the name of another table", table.name());
        scope.define(id, Resource::Table(table.name().to_owned()));
        tables.push(table);
    }
    Ok(tables)
}

fn read(scope: &Scope, id: &str, resource: &Yaml, default_name: &str) -> Result<Table> {
    let properties = resource.get("Properties").context("Properties is missing")?;
    let name = scope.text_or(properties, "TableName", default_name)?;
    Ok(Table {
        logical_id: id.to_owned(),
        creation: creation(scope, properties, &name)?,
        ttl_attribute: ttl_attribute(scope, properties)?,
    })
}

/// The `CreateTable` request: keys, indexes and stream, without billing and monitoring.
fn creation(scope: &Scope, properties: &Yaml, name: &str) -> Result<Json> {
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
fn ttl_attribute(scope: &Scope, properties: &Yaml) -> Result<Option<String>> {
    let Some(ttl) = properties.get("TimeToLiveSpecification") else { return Ok(None) };
    Ok(Some(scope.required_text(ttl, "AttributeName").context("TimeToLiveSpecification")?))
}
