//! The tables and samples of `docs/events.md`, generated from the types so that they cannot go stale.
#![allow(clippy::expect_used, reason = "tests")]

use std::fs;

use serde_json::Value;

use crate::event::schemas;
use crate::tests::samples;
use crate::{Event, KINDS, Kind};

const PAGE: &str = "events.md";

/// A chapter for every kind of event, with its fields and a sample.
fn chapters() -> String {
    let chapters: Vec<_> = KINDS.iter().zip(samples()).map(|(kind, sample)| chapter(kind, &sample)).collect();
    chapters.join("\n")
}

fn chapter(Kind { source, detail_type: kind }: &Kind, sample: &Event) -> String {
    assert_eq!((sample.detail_type(), sample.subject().source()), (*kind, *source));
    let schema = schemas().into_iter().find(|(name, _)| name == kind).expect("a schema").1;
    let schema = serde_json::to_value(schema).expect("JSON");
    let required = schema["required"].as_array().expect("a list");
    // In the order of the detail.
    let text = sample.detail().expect("JSON");
    let mut fields: Vec<_> = schema["properties"].as_object().expect("properties").iter().collect();
    fields.sort_by_key(|(name, _)| text.find(&format!("\"{name}\":")));

    let about = schema["description"].as_str().expect("a description");
    let mut chapter =
        format!("### {kind}\n\n{about} The source is `{source}`.\n\n| field | type | meaning |\n|---|---|---|\n");
    chapter.extend(fields.into_iter().map(|(name, field)| {
        let optional = if required.iter().any(|required| required == name) { "" } else { ", optional" };
        // A description of several lines would break its row.
        let meaning = field["description"].as_str().expect("a description").replace('\n', " ");
        format!("| `{name}` | {}{optional} | {meaning} |\n", type_of(field))
    }));
    let sample = serde_json::to_string_pretty(sample).expect("JSON");
    chapter + &format!("\n```json\n{sample}\n```\n")
}

/// A field's type: its own, or the name of the schema that it refers to.
fn type_of(field: &Value) -> String {
    if field["type"] == "array" {
        return format!("list of {}", type_of(&field["items"]));
    }
    let referred = |field: &Value| field["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    let through = field["allOf"].as_array().or(field["oneOf"].as_array()).and_then(|all| all.iter().find_map(referred));
    let own = || field["type"].as_str().expect("a type").to_owned();
    referred(field).or(through).unwrap_or_else(own)
}

#[test]
fn the_events_in_the_documentation_are_those_of_the_code() {
    docs_check::check(PAGE, &[("events", chapters())]).expect("docs/events.md");
}

#[test]
fn the_rule_in_the_documentation_names_events_of_the_code() {
    let text = fs::read_to_string(docs_check::file(PAGE)).expect("docs/events.md");
    let (_, rest) = text.split_once("```json\n").expect("the rule is the first JSON");
    let (rule, _) = rest.split_once("```").expect("the end of the rule");
    let rule: Value = serde_json::from_str(rule).expect("JSON");
    for detail_type in rule["detail-type"].as_array().expect("a list") {
        let kind = KINDS.iter().find(|kind| detail_type == kind.detail_type).expect("a kind of event");
        assert_eq!(rule["source"], serde_json::json!([kind.source]), "{detail_type}");
    }
}
