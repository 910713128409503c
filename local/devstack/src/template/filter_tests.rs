use serde_json::json;

use super::*;

fn matches(pattern: &Value, record: &Value) -> bool {
    Pattern::parse(&pattern.to_string()).unwrap().matches(record)
}

fn error(text: &str) -> String {
    format!("{:#}", Pattern::parse(text).unwrap_err())
}

#[test]
fn every_field_has_to_match_one_of_its_alternatives() {
    let record = json!({ "name": "INSERT", "item": { "PK": { "S": "o#1" }, "version": 3 } });
    assert!(matches(&json!({ "name": ["MODIFY", "INSERT"] }), &record));
    assert!(matches(&json!({ "name": ["INSERT"], "item": { "PK": { "S": ["o#1"] } } }), &record));
    assert!(!matches(&json!({ "name": ["INSERT"], "item": { "PK": { "S": ["o#2"] } } }), &record));
    assert!(!matches(&json!({ "other": ["INSERT"] }), &record));
    assert!(!matches(&json!({ "item": ["o#1"] }), &record), "an object is no value");
}

#[test]
fn numbers_match_by_value_and_null_and_booleans_as_they_are() {
    let record = json!({ "number": 3, "nothing": null, "flag": true });
    assert!(matches(&json!({ "number": [3.0] }), &record));
    assert!(!matches(&json!({ "number": ["3"] }), &record));
    assert!(matches(&json!({ "nothing": [null] }), &record));
    assert!(!matches(&json!({ "missing": [null] }), &record));
    assert!(matches(&json!({ "flag": [true] }), &record));
}

#[test]
fn exists_is_true_only_for_leaves() {
    let record = json!({ "item": { "version": null, "tags": ["a"], "none": [] } });
    let exists = |field: &str, wanted: bool| matches(&json!({ "item": { field: [{ "exists": wanted }] } }), &record);
    assert!(exists("version", true) && !exists("version", false));
    assert!(exists("missing", false) && !exists("missing", true));
    assert!(exists("tags", true) && exists("none", false));
    assert!(matches(&json!({ "item": [{ "exists": false }] }), &record));
    assert!(matches(&json!({ "absent": { "version": [{ "exists": false }] } }), &record));
}

#[test]
fn one_element_of_a_list_has_to_match() {
    let record = json!({ "tags": ["a", "b"], "lines": [{ "sku": "x" }, { "sku": "y" }] });
    assert!(matches(&json!({ "tags": ["b"] }), &record) && !matches(&json!({ "tags": ["c"] }), &record));
    assert!(matches(&json!({ "lines": { "sku": ["y"] } }), &record));
    assert!(!matches(&json!({ "lines": { "sku": ["z"] } }), &record));
}

#[test]
fn an_unknown_pattern_is_refused_and_named() {
    assert_eq!(
        error(r#"{ "a": { "b": [{ "numeric": ["=", 5] }] } }"#),
        "a: b: numeric is not known to the laptop stack: it knows exists alone"
    );
    assert_eq!(error(r#"{ "$or": [{ "a": [1] }] }"#), "$or is not known to the laptop stack");
    assert_eq!(error(r#"{ "a": "b" }"#), "a is neither an object nor a list of alternatives");
    assert_eq!(error(r#"{ "a": [] }"#), "a is neither an object nor a list of alternatives");
    assert_eq!(error(r#"{ "a": [["b"]] }"#), r#"a: ["b"] is a list within a list"#);
    assert_eq!(error(r#"{ "a": [{ "exists": "yes" }] }"#), "a: exists needs true or false");
    assert_eq!(error(r#"{ "a": [{ "prefix": "b", "suffix": "c" }] }"#), "a: a rule has one name, such as exists");
    assert_eq!(error("{}"), "an object of the pattern is empty");
    assert_eq!(error("[]"), "[] is not an object");
    assert!(error("{").starts_with("{ is not JSON: "));
}
