//! Data models of NoSQL Workbench: `cargo local export-model` and `cargo local import-model`.
//!
//! A model has Till's design, and the shop's history as its sample data: the items that an import of the history into an
//! empty table in memory leaves. A model is read by the way back: its items in such a table are exported as history.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use devstack::Scratch;
use jiff::Timestamp;
use key_schema::layout::{ENTITIES, ENTITY_TYPE, Index, PATTERNS};
use lambda::Environment;
use serde_json::{Map, Value, json};

use super::export::{Exported, export};
use super::import::{Options, Outcome, Placement, Summary, import_lines};
use super::input::{Line, Lines};
use super::record::Record;

/// The name of the model and of its table. The name of a real table says nothing about the design.
const NAME: &str = "Till";
/// How the Workbench writes times.
const DATE: &str = "%b %d, %Y, %I:%M %p";
/// The attribute that depends on the time of the import.
const IMPORTED_AT: &str = "importedAt";
const EVERYTHING: Options = Options { check: false, open: true, units_per_second: None };

/// Items by partition key and sort key.
type Items = BTreeMap<[String; 2], Map<String, Value>>;

/// Makes a model of Till's design and of the history of this environment's table. The same history makes the same bytes,
/// whichever table it comes from.
///
/// # Errors
/// The table cannot be read, or breaks a law of the import.
pub async fn export_model(environment: &Environment) -> Result<(String, Exported)> {
    let mut history = Vec::new();
    let exported = export(environment, &mut history, |_| ()).await?;
    let refused = |outcome: &Outcome| match &outcome.result {
        Placement::Refused(reason) => bail!("line {} of the history: {reason}", outcome.line),
        Placement::New | Placement::Same => Ok(()),
    };
    let model = model(&items(environment, &lines("the history", &history)?, refused).await?);
    Ok((serde_json::to_string_pretty(&model)? + "\n", exported))
}

/// Imports the items of a model into the table of this environment, as [`import`](super::import()) imports a file. `note`
/// gets each item that differs from the one that follows from the others, which is taken; `tell` the outcome of each record.
///
/// # Errors
/// The file is no model, an item cannot be read, or the table cannot be read or written. The same import may then be
/// started again.
pub async fn import_model(
    environment: &Environment,
    file: &Path,
    options: &Options,
    note: impl FnMut(String) -> Result<()>,
    tell: impl FnMut(&Outcome) -> Result<()>,
) -> Result<Summary> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let model: Value = serde_json::from_str(&text).with_context(|| format!("{name} is no model of NoSQL Workbench"))?;
    let tables = model["DataModel"].as_array().with_context(|| format!("{name} is no model of NoSQL Workbench"))?;
    if tables.iter().all(|table| table["TableData"].as_array().is_none_or(Vec::is_empty)) {
        bail!("{name} has no data: a model is imported for its items");
    }
    let scratch = scratch().await?;
    for (number, item) in (1..).zip(tables.iter().filter_map(|table| table["TableData"].as_array()).flatten()) {
        scratch.put(item).await.with_context(|| format!("{name}: item {number}"))?;
    }
    let mut history = Vec::new();
    export(&beside(environment, &scratch), &mut history, |_| ()).await.with_context(|| name.clone())?;
    let lines = lines(&name, &history)?;
    let follow = items(environment, &lines, |_| Ok(())).await?;
    differences(&by_key(scratch.items().await?), &follow).into_iter().try_for_each(note)?;
    import_lines(environment, options, || Ok(read(&lines)), tell).await
}

/// The lines of a history.
fn lines(name: &str, history: &[u8]) -> Result<Vec<Line>> {
    let text = std::str::from_utf8(history)?;
    let line = |(number, line): (u64, &str)| Line { file: name.into(), number, record: Record::read(line.as_bytes()) };
    Ok((1..).zip(text.lines()).map(line).collect())
}

/// The lines, as an import reads them in each of its passes.
fn read(lines: &[Line]) -> Lines {
    let lines = lines.to_vec();
    Box::new(lines.into_iter().map(Ok))
}

/// The items that an import of these lines into an empty table leaves.
async fn items(environment: &Environment, lines: &[Line], tell: impl FnMut(&Outcome) -> Result<()>) -> Result<Items> {
    let scratch = scratch().await?;
    import_lines(&beside(environment, &scratch), &EVERYTHING, || Ok(read(lines)), tell).await?;
    Ok(by_key(scratch.items().await?))
}

async fn scratch() -> Result<Scratch> {
    Scratch::start(&crate::template(include_str!("../../../template.yaml"))?).await
}

/// The environment of the table in memory, with as many shards as this one.
fn beside(environment: &Environment, scratch: &Scratch) -> Environment {
    let shards = ["STATUS_SHARDS", "PRODUCT_SHARDS"];
    let shards = shards.into_iter().filter_map(|name| Some((name, environment.optional(name)?)));
    let own = [
        ("AWS_ENDPOINT_URL_DYNAMODB", scratch.url()),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("TABLE_NAME", scratch.table()),
    ];
    Environment::of(own.into_iter().chain(shards).map(|(name, value)| (name.to_owned(), value.to_owned())))
}

fn by_key(items: Vec<Value>) -> Items {
    let items = items.into_iter().filter_map(|mut item| {
        item.sort_all_objects();
        let mut item = item.as_object_mut().map(std::mem::take)?;
        item.remove(IMPORTED_AT);
        let (partition, sort) = Index::Table.attributes();
        Some(([text(&item, partition), text(&item, sort)].map(str::to_owned), item))
    });
    items.collect()
}

fn text<'a>(item: &'a Map<String, Value>, name: &str) -> &'a str {
    item.get(name).and_then(|value| value["S"].as_str()).unwrap_or_default()
}

/// How the items of a model differ from those that follow from its records.
fn differences(given: &Items, follow: &Items) -> Vec<String> {
    let mut differences = Vec::new();
    for key in given.keys().chain(follow.keys()).collect::<BTreeSet<_>>() {
        let name = key.join(", ");
        match (given.get(key), follow.get(key)) {
            (Some(_), None) => differences.push(format!("({name}): left out, because no record has it")),
            (None, _) => differences.push(format!("({name}): added, because it follows from other items")),
            (Some(item), Some(follows)) => {
                let names: BTreeSet<_> = item.keys().chain(follows.keys()).collect();
                for attribute in names.into_iter().filter(|name| item.get(*name) != follows.get(*name)) {
                    let [is, follows] =
                        [item, follows].map(|item| item.get(attribute).map_or("absent".to_owned(), Value::to_string));
                    differences.push(format!("({name}): {attribute} is {is}; {follows} follows from other items"));
                }
            }
        }
    }
    differences
}

/// The model with these items.
fn model(items: &Items) -> Value {
    let of_indexes = [Index::Gsi1, Index::Gsi2];
    let keys = [Index::Table, Index::Gsi1, Index::Gsi2].map(Index::attributes).map(<[_; 2]>::from).concat();
    // The attributes of all items with their types, and those of each entity, except for keys.
    let mut types: BTreeMap<&str, &str> = keys[2..].iter().map(|key| (*key, "S")).collect();
    let mut of_entities: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for item in items.values() {
        let names = of_entities.entry(text(item, ENTITY_TYPE)).or_default();
        for (name, value) in item.iter().filter(|(name, _)| !keys.contains(&name.as_str())) {
            names.insert(name);
            types.extend(
                value.as_object().and_then(|value| value.keys().next()).map(|kind| (name.as_str(), kind.as_str())),
            );
        }
    }
    let facet = |name: String, partition: String, sort: &str, entities: &[&str]| {
        let attributes: BTreeSet<_> = entities.iter().filter_map(|entity| of_entities.get(entity)).flatten().collect();
        json!({
            "FacetName": name,
            "KeyAttributeAlias": {
                "PartitionKeyAlias": partition, "SortKeyAlias": if sort.is_empty() { "all" } else { sort },
            },
            "TableData": [],
            "NonKeyAttributes": attributes,
            "DataAccess": { "MySql": {} },
        })
    };
    let entities = ENTITIES.iter().map(|(entity, places)| {
        facet((*entity).to_owned(), places[0].partition.to_owned(), places[0].sort, &[*entity])
    });
    let patterns = PATTERNS.iter().map(|pattern| {
        let place = pattern.place;
        let index = place.index.name().map(|index| format!("{index}: ")).unwrap_or_default();
        let name = name(pattern.number, pattern.question);
        facet(name, format!("{index}{}", place.partition), place.sort, pattern.entities)
    });
    let facets: Vec<_> = entities.chain(patterns).collect();
    let attributes: Vec<_> = types.iter().map(|(name, kind)| attribute(name, kind)).collect();
    let indexes = of_indexes.map(|index| {
        let projection = json!({ "ProjectionType": "ALL" });
        json!({ "IndexName": index.name(), "KeyAttributes": key_attributes(index), "Projection": projection })
    });
    let date = latest(items);
    json!({
        "ModelName": NAME,
        "ModelMetadata": {
            "Author": NAME,
            "DateCreated": date,
            "DateLastModified": date,
            "Description": "An order backend for a shop. A facet with a number is an access pattern.",
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [{
            "TableName": NAME,
            "KeyAttributes": key_attributes(Index::Table),
            "NonKeyAttributes": attributes,
            "TableFacets": facets,
            "GlobalSecondaryIndexes": indexes,
            "TableData": items.values().collect::<Vec<_>>(),
            "DataAccess": { "MySql": {} },
            "BillingMode": "PAY_PER_REQUEST",
        }],
    })
}

fn attribute(name: &str, kind: &str) -> Value {
    json!({ "AttributeName": name, "AttributeType": kind })
}

fn key_attributes(index: Index) -> Value {
    let (partition, sort) = index.attributes();
    json!({ "PartitionKey": attribute(partition, "S"), "SortKey": attribute(sort, "S") })
}

/// The name of a pattern's facet, in letters, digits and hyphens: `03-an-order-by-its-id`.
fn name(number: u8, question: &str) -> String {
    let plain = question.replace('\'', "").to_lowercase();
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{number:02}-{}", words.collect::<Vec<_>>().join("-"))
}

/// The latest time in the items: the same shop must make the same model.
fn latest(items: &Items) -> String {
    let times = items.values().flat_map(|item| ["createdAt", "placedAt", "changedAt"].map(|name| text(item, name)));
    let latest = times.max().and_then(|time| time.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH);
    latest.strftime(DATE).to_string()
}
