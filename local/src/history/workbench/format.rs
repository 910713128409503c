//! The format of NoSQL Workbench's data models, versions 1.0 to 3.0. What it does not know is kept in `other`.
#![allow(clippy::struct_field_names, reason = "the names are those of the format")]

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use key_schema::value::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{KeyNames, Numbered};

/// An item in DynamoDB's JSON, with its attributes in order.
pub(super) type Item = BTreeMap<String, Value>;

/// Fields that this format does not know.
type Other = BTreeMap<String, Value>;

/// How the Workbench writes times, which it shows in the time zone of the machine.
const DATE: &str = "%b %d, %Y, %I:%M %p";

/// A file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Model {
    pub model_name: String,
    #[serde(default)]
    pub model_metadata: Metadata,
    pub data_model: Vec<Table>,
    #[serde(flatten)]
    pub other: Other,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Metadata {
    pub author: String,
    pub date_created: String,
    pub date_last_modified: String,
    pub description: String,
    #[serde(rename = "AWSService", skip_serializing_if = "Option::is_none")]
    pub aws_service: Option<String>,
    pub version: String,
    #[serde(flatten)]
    pub other: Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Table {
    pub table_name: String,
    pub key_attributes: Keys,
    #[serde(default)]
    pub non_key_attributes: Vec<Attribute>,
    #[serde(default)]
    pub table_facets: Vec<Facet>,
    #[serde(default)]
    pub global_secondary_indexes: Vec<Index>,
    #[serde(default)]
    pub table_data: Vec<Item>,
    #[serde(default = "no_data_source")]
    pub data_access: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_mode: Option<String>,
    /// Throughput, if the billing mode is not on demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned_capacity_settings: Option<Value>,
    /// How the Workbench generates sample values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_data_formats: Option<Value>,
    #[serde(flatten)]
    pub other: Other,
}

/// The keys of a table or of an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Keys {
    pub partition_key: Attribute,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<Attribute>,
    #[serde(flatten)]
    pub other: Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Attribute {
    pub attribute_name: String,
    /// `S`, `N`, `M` and so on.
    pub attribute_type: String,
    #[serde(flatten)]
    pub other: Other,
}

/// A view of a table: an entity, or the answer to an access pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Facet {
    pub facet_name: String,
    pub key_attribute_alias: Alias,
    #[serde(default)]
    pub table_data: Vec<Item>,
    #[serde(default)]
    pub non_key_attributes: Vec<String>,
    #[serde(default = "no_data_source")]
    pub data_access: Value,
    #[serde(flatten)]
    pub other: Other,
}

/// The keys of a facet, in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Alias {
    pub partition_key_alias: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key_alias: Option<String>,
    #[serde(flatten)]
    pub other: Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Index {
    pub index_name: String,
    pub key_attributes: Keys,
    pub projection: Projection,
    #[serde(flatten)]
    pub other: Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Projection {
    pub projection_type: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub non_key_attributes: Vec<String>,
    #[serde(flatten)]
    pub other: Other,
}

/// The Workbench can also read a table of MySQL. A model without one has this.
pub(super) fn no_data_source() -> Value {
    json!({ "MySql": {} })
}

impl Keys {
    fn names(&self) -> Vec<String> {
        let keys = [Some(&self.partition_key), self.sort_key.as_ref()].into_iter().flatten();
        keys.map(|key| key.attribute_name.clone()).collect()
    }
}

impl Model {
    /// The fields that the format does not know, by their paths.
    pub(super) fn unknown(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut name =
            |path: &str, other: &Other| all.extend(other.keys().map(|field| format!("the field {path}{field}")));
        name("", &self.other);
        name("ModelMetadata.", &self.model_metadata.other);
        for table in &self.data_model {
            let path = format!("{}.", table.table_name);
            name(&path, &table.other);
            let of_indexes = table.global_secondary_indexes.iter();
            let of_indexes = of_indexes.map(|index| (format!("{path}{}.", index.index_name), &index.key_attributes));
            for (path, keys) in [(path.clone(), &table.key_attributes)].into_iter().chain(of_indexes) {
                name(&format!("{path}KeyAttributes."), &keys.other);
                for attribute in [Some(&keys.partition_key), keys.sort_key.as_ref()].into_iter().flatten() {
                    name(&format!("{path}{}.", attribute.attribute_name), &attribute.other);
                }
            }
            for attribute in &table.non_key_attributes {
                name(&format!("{path}{}.", attribute.attribute_name), &attribute.other);
            }
            for facet in &table.table_facets {
                let path = format!("{path}{}.", facet.facet_name);
                name(&path, &facet.other);
                name(&format!("{path}KeyAttributeAlias."), &facet.key_attribute_alias.other);
            }
            for index in &table.global_secondary_indexes {
                let path = format!("{path}{}.", index.index_name);
                name(&path, &index.other);
                name(&format!("{path}Projection."), &index.projection.other);
            }
        }
        all
    }

    /// The time at which the model was made, in UTC, if it says so.
    pub(super) fn created_at(&self) -> Option<Timestamp> {
        let date = DateTime::strptime(DATE, &self.model_metadata.date_created).ok()?;
        Timestamp::from_millisecond(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
    }
}

impl Table {
    /// The items of the table, numbered from 1.
    pub(super) fn numbered(&self) -> Vec<Numbered> {
        let of_indexes = self.global_secondary_indexes.iter().flat_map(|index| index.key_attributes.names());
        let keys = KeyNames { of_table: self.key_attributes.names(), of_indexes: of_indexes.collect() };
        let (table, keys) = (Arc::<str>::from(self.table_name.as_str()), Arc::new(keys));
        let numbered = |(number, item): (usize, &Item)| {
            let text = |name| item.get(name).and_then(text).unwrap_or("-").to_owned();
            let key = keys.of_table.iter().map(text).collect();
            Numbered { number, table: Arc::clone(&table), key, keys: Arc::clone(&keys), item: item.clone() }
        };
        (1..).zip(&self.table_data).map(numbered).collect()
    }
}

/// A time as the Workbench writes it.
pub(super) fn date(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::UTC).strftime(DATE).to_string()
}

/// The text of a string or a number in DynamoDB's JSON.
pub(super) fn text(value: &Value) -> Option<&str> {
    value["S"].as_str().or_else(|| value["N"].as_str())
}
