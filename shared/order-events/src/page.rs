//! The tables and samples of `docs/events.md`, made from the types so that they cannot go stale.
#![allow(clippy::expect_used, reason = "tests")]

use std::{env, fs};

use serde_json::Value;

use crate::event::schemas;
use crate::tests::samples;
use crate::{Event, KINDS, Kind};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/events.md");

/// Every kind of event: what it says, field by field, and a sample.
fn chapters() -> String {
    let chapters: Vec<_> = KINDS.iter().zip(samples()).map(|(kind, sample)| chapter(kind, &sample)).collect();
    chapters.join("\n")
}

fn chapter(Kind { source, detail_type: kind }: &Kind, sample: &Event) -> String {
    assert_eq!((sample.detail_type(), sample.subject().source()), (*kind, *source));
    let schema = schemas().into_iter().find(|(name, _)| name == kind).expect("a schema").1;
    let schema = serde_json::to_value(schema).expect("JSON");
    let required = schema["required"].as_array().expect("a list");
    // In the order in which the detail has them.
    let text = sample.detail().expect("JSON");
    let mut fields: Vec<_> = schema["properties"].as_object().expect("properties").iter().collect();
    fields.sort_by_key(|(name, _)| text.find(&format!("\"{name}\":")));

    let about = schema["description"].as_str().expect("a description");
    let mut chapter =
        format!("### {kind}\n\n{about} Its source is `{source}`.\n\n| field | type | what |\n|---|---|---|\n");
    chapter.extend(fields.into_iter().map(|(name, field)| {
        let optional = if required.iter().any(|required| required == name) { "" } else { ", optional" };
        let what = field["description"].as_str().expect("a description");
        format!("| `{name}` | {}{optional} | {what} |\n", type_of(field))
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

/// The text with what stands between its markers replaced.
fn current(text: &str) -> String {
    let (open, close) = ("<!-- events -->", "<!-- /events -->");
    let (before, rest) = text.split_once(open).expect("the first marker");
    let (_, after) = rest.split_once(close).expect("the last marker");
    format!("{before}{open}\n\n{}\n{close}{after}", chapters())
}

#[test]
fn the_events_in_the_documentation_are_those_of_the_code() {
    let written = fs::read_to_string(FILE).expect("docs/events.md");
    let current = current(&written);
    if env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        fs::write(FILE, &current).expect("docs/events.md is writable");
        return;
    }
    assert!(written == current, "docs/events.md is stale: UPDATE_DOCS=1 cargo test -p events");
}

#[test]
fn the_documentations_rule_is_for_these_events() {
    let text = fs::read_to_string(FILE).expect("docs/events.md");
    let (_, rest) = text.split_once("```json\n").expect("the rule comes first");
    let (rule, _) = rest.split_once("```").expect("it ends");
    let rule: Value = serde_json::from_str(rule).expect("JSON");
    for detail_type in rule["detail-type"].as_array().expect("a list") {
        let kind = KINDS.iter().find(|kind| detail_type == kind.detail_type).expect("a kind of event");
        assert_eq!(rule["source"], serde_json::json!([kind.source]), "{detail_type}");
    }
}
