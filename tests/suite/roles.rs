//! What the functions may not do: their roles allow what the template declares, for the keys that it declares, and
//! nothing else.

use std::collections::BTreeSet;

use key_schema::layout::{ENTITIES, Index};
use local::Template;
use local::iam::permit;
use serde_json::{Value, json};
use serde_yaml_ng::Value as Yaml;

use crate::completeness::template;
use crate::shop::{Shop, template_text};
use crate::shop_queue::{DEAD_LETTERS, QUEUE};

/// A statement about the table as its text says it, read without what enforces it.
struct Declared {
    function: String,
    actions: Vec<String>,
    /// The index, if it is one.
    index: Option<String>,
    /// `o#*`, or a whole key.
    keys: BTreeSet<String>,
    in_transactions_only: bool,
}

fn list(value: &Yaml) -> Vec<String> {
    let texts = value.as_sequence().map_or(std::slice::from_ref(value), Vec::as_slice);
    texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn declared() -> Vec<Declared> {
    let text: Yaml = serde_yaml_ng::from_str(&template_text()).expect("YAML");
    let mut all = Vec::new();
    for function in template().functions {
        let role = &text["Resources"][format!("{}Role", function.logical_id).as_str()]["Properties"];
        for statement in role["Policies"][0]["PolicyDocument"]["Statement"].as_sequence().expect("statements") {
            let Yaml::Tagged(resource) = &statement["Resource"] else { panic!("{statement:?}") };
            let index = match resource.value.as_str().expect("a text") {
                "Table.Arn" => None,
                other => match other.strip_prefix("${Table.Arn}/index/") {
                    None => continue,
                    Some(index) => Some(index.to_owned()),
                },
            };
            let condition = &statement["Condition"];
            assert_eq!(condition["Null"]["dynamodb:LeadingKeys"], "false", "ForAllValues holds of no keys, too");
            let keys = list(&condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]);
            all.push(Declared {
                function: function.logical_id.clone(),
                actions: list(&statement["Action"]),
                index,
                keys: keys.into_iter().collect(),
                in_transactions_only: !condition["ForAnyValue:StringEquals"].is_null(),
            });
        }
    }
    all
}

/// The beginning of every partition key of the schema, as a pattern: `o#*`.
fn patterns() -> BTreeSet<String> {
    let places = ENTITIES.iter().flat_map(|(_, places)| places.iter());
    let patterns = places.map(|place| match place.partition.split_once('{') {
        None => place.partition.to_owned(),
        Some((prefix, _)) => format!("{prefix}*"),
    });
    patterns.collect()
}

fn key(pattern: &str) -> String {
    pattern.replace('*', "1")
}

/// A call for a key, or two, of the table or an index, as the client sends it; and the actions that it needs.
fn calls(table: &str) -> Vec<(&'static str, &'static str, fn(&str, &str, &str) -> Value)> {
    let _ = table;
    let item = |table: &str, key: &str| json!({ "TableName": table, "Key": { "PK": { "S": key }, "SK": { "S": "x" } } });
    let _ = item;
    vec![]
}
