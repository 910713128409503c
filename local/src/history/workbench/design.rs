//! Till's design as a model.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use key_schema::layout::{ENTITIES, ENTITY_TYPE, Index, PATTERNS};
use key_schema::value::Timestamp;
use serde_json::{Map, Value};

use super::Record;
use super::format::{self, Alias, Attribute, Facet, Item, Keys, Metadata, Model, Projection, Table, no_data_source};

/// The name of the model and of its table. The name of a real table is not in a model, because it says nothing about
/// the design.
const NAME: &str = "Till";

/// The model with these items.
pub(super) fn model(items: Vec<table::Item>, records: &[Record]) -> Result<Model> {
    let items = items.into_iter().map(json).collect::<Result<Vec<_>>>()?;
    let attributes = Attributes::of(&items);
    let date = format::date(latest(records));
    let facets = ENTITIES.iter().map(|(entity, places)| {
        facet((*entity).to_owned(), places[0].partition.to_owned(), places[0].sort, attributes.of_entity(entity))
    });
    let patterns = PATTERNS.iter().map(|pattern| {
        let partition = match pattern.place.index.name() {
            None => pattern.place.partition.to_owned(),
            Some(index) => format!("{index}: {}", pattern.place.partition),
        };
        let shown: BTreeSet<_> = pattern.entities.iter().flat_map(|entity| attributes.of_entity(entity)).collect();
        facet(name(pattern.number, pattern.question), partition, pattern.place.sort, shown)
    });
    let table = Table {
        table_name: NAME.to_owned(),
        key_attributes: keys(Index::Table),
        non_key_attributes: attributes.all(),
        table_facets: facets.chain(patterns).collect(),
        global_secondary_indexes: [Index::Gsi1, Index::Gsi2].into_iter().filter_map(index).collect(),
        table_data: items,
        data_access: no_data_source(),
        billing_mode: Some("PAY_PER_REQUEST".to_owned()),
        provisioned_capacity_settings: None,
        sample_data_formats: None,
        other: BTreeMap::new(),
    };
    Ok(Model {
        model_name: NAME.to_owned(),
        model_metadata: Metadata {
            author: NAME.to_owned(),
            date_created: date.clone(),
            date_last_modified: date,
            description: "An order backend for a shop. A facet with a number is an access pattern.".to_owned(),
            aws_service: Some("Amazon DynamoDB".to_owned()),
            version: "3.0".to_owned(),
            other: BTreeMap::new(),
        },
        data_model: vec![table],
        other: BTreeMap::new(),
    })
}

/// Whether the table has Till's keys and indexes.
pub(super) fn is_own(table: &Table) -> bool {
    let indexes: Vec<_> = [Index::Gsi1, Index::Gsi2].into_iter().filter_map(index).collect();
    table.key_attributes == keys(Index::Table) && table.global_secondary_indexes == indexes
}

fn keys(index: Index) -> Keys {
    let (partition, sort) = index.attributes();
    let text = |name: &str| Attribute {
        attribute_name: name.to_owned(),
        attribute_type: "S".to_owned(),
        other: BTreeMap::new(),
    };
    Keys { partition_key: text(partition), sort_key: Some(text(sort)), other: BTreeMap::new() }
}

fn index(index: Index) -> Option<format::Index> {
    Some(format::Index {
        index_name: index.name()?.to_owned(),
        key_attributes: keys(index),
        projection: Projection {
            projection_type: "ALL".to_owned(),
            non_key_attributes: Vec::new(),
            other: BTreeMap::new(),
        },
        other: BTreeMap::new(),
    })
}

fn facet(name: String, partition: String, sort: &str, attributes: impl IntoIterator<Item = String>) -> Facet {
    let sort = if sort.is_empty() { "all" } else { sort };
    Facet {
        facet_name: name,
        key_attribute_alias: Alias {
            partition_key_alias: partition,
            sort_key_alias: Some(sort.to_owned()),
            other: BTreeMap::new(),
        },
        table_data: Vec::new(),
        non_key_attributes: attributes.into_iter().collect(),
        data_access: no_data_source(),
        other: BTreeMap::new(),
    }
}

/// The name of a pattern's facet, in letters, digits and hyphens: `03-an-order-by-its-id`.
fn name(number: u8, question: &str) -> String {
    let plain = question.replace('\'', "").to_lowercase();
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{number:02}-{}", words.collect::<Vec<_>>().join("-"))
}

/// The attributes of the items of each entity, except for the keys of the table and of the indexes.
struct Attributes(BTreeMap<String, BTreeMap<String, String>>);

impl Attributes {
    fn of(items: &[Item]) -> Self {
        let keys = [Index::Table, Index::Gsi1, Index::Gsi2].map(Index::attributes).map(|(pk, sk)| [pk, sk]).concat();
        let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for item in items {
            let entity = item.get(ENTITY_TYPE).and_then(format::text).unwrap_or_default();
            let known = all.entry(entity.to_owned()).or_default();
            for (name, value) in item.iter().filter(|(name, _)| !keys.contains(&name.as_str())) {
                let kind = value.as_object().and_then(|value| value.keys().next()).cloned().unwrap_or_default();
                known.insert(name.clone(), kind);
            }
        }
        Self(all)
    }

    /// Every attribute with its type.
    fn all(&self) -> Vec<Attribute> {
        let index_keys = [Index::Gsi1, Index::Gsi2].map(Index::attributes).map(|(pk, sk)| [pk, sk]).concat();
        let keys = index_keys.into_iter().map(|name| (name.to_owned(), "S".to_owned()));
        let all: BTreeMap<_, _> =
            self.0.values().flatten().map(|(name, kind)| (name.clone(), kind.clone())).chain(keys).collect();
        let attribute =
            |(attribute_name, attribute_type)| Attribute { attribute_name, attribute_type, other: BTreeMap::new() };
        all.into_iter().map(attribute).collect()
    }

    fn of_entity(&self, entity: &str) -> Vec<String> {
        self.0.get(entity).into_iter().flat_map(BTreeMap::keys).cloned().collect()
    }
}

/// An item in DynamoDB's JSON. Maps are in order, at every depth.
pub(super) fn json(item: table::Item) -> Result<Item> {
    let item = serde_dynamo::Item::from(item);
    let Value::Object(attributes) = serde_json::to_value(item)? else { return Ok(Item::new()) };
    Ok(attributes.into_iter().map(|(name, value)| (name, in_order(value))).collect())
}

fn in_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.into_iter().map(|(name, value)| (name, in_order(value))).collect();
            Value::Object(sorted.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(in_order).collect()),
        plain => plain,
    }
}

/// The latest time in the records. A model says when it was changed, and the same shop must make the same model.
fn latest(records: &[Record]) -> Timestamp {
    let times = records.iter().filter_map(|record| match record {
        Record::Customer(record) => Some(record.created_at),
        Record::Guest(record) => Some(record.created_at),
        Record::Product(_) => None,
        Record::Discount(record) => Some(record.created_at),
        Record::GiftCard(record) => Some(record.created_at),
        Record::Order(record) => Some(record.changed_at.unwrap_or(record.placed_at)),
    });
    times.max().unwrap_or(Timestamp::EPOCH)
}
