//! The fields that customers may see: every field of every kind of answer to customers and to callers without a token.
//!
//! The suite's client checks each reply to such a caller against `customer-view.txt`, in every test. So a new field of an entity
//! is not shown to customers by accident: the tests fail until the field is added here.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use reqwest::Method;
use serde_json::Value;

use crate::openapi;

/// A field of a reply: the names of its schema and of the field.
pub type Seen = (String, String);

/// Fields by the schema's name in the API's description. `Page` is a list itself; `Problem` stands for all problems.
pub static VISIBLE: LazyLock<BTreeSet<Seen>> = LazyLock::new(|| {
    let schemas = include_str!("customer-view.txt").lines().map(|line| line.split_once(": ").expect("a schema"));
    let fields = |(schema, fields): (&'static str, &'static str)| {
        fields.split(' ').map(move |field| (schema.to_owned(), field.to_owned()))
    };
    schemas.flat_map(fields).collect()
});

/// Panics if the reply contains a field that is not on the list.
#[track_caller]
pub fn check(method: &Method, path: &str, body: &Value, status: u16) {
    for seen in seen(method, path, body, status) {
        assert!(
            VISIBLE.contains(&seen),
            "{method} {path} ({status}) shows a customer the field {} of {}: if that is meant, add it to \
             tests/shop/src/customer-view.txt",
            seen.1,
            seen.0
        );
    }
}

/// Every field of this reply.
pub fn seen(method: &Method, path: &str, body: &Value, status: u16) -> Vec<Seen> {
    let Some(operation) = openapi::operation(method, path) else { return Vec::new() };
    let response = &operation["responses"][status.to_string()];
    let mut found = Vec::new();
    // An error of the gateway itself is no problem.
    let is_problem = body["type"].is_string();
    for (name, media) in response["content"].as_object().into_iter().flatten() {
        if status < 400 || (name == "application/problem+json") == is_problem {
            gather("Page", &media["schema"], body, &mut found);
        }
    }
    found
}

/// Collects the fields of a value with this schema. `within` is the name of the enclosing schema.
fn gather(within: &str, schema: &Value, value: &Value, found: &mut Vec<Seen>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        // One object describes both states of an order.
        let name = match name {
            "OrderState" if value["placedAt"].is_null() => "QueuedOrder",
            "OrderState" => "Order",
            other => other,
        };
        let target = openapi::document().pointer(reference.trim_start_matches('#')).expect("a schema");
        return gather(name, target, value, found);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        gather(within, part, value, found);
    }
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    for choice in choices.filter(|choice| openapi::conforms(choice, value).is_ok()) {
        gather(within, choice, value, found);
    }
    for item in value.as_array().into_iter().flatten() {
        gather(within, &schema["items"], item, found);
    }
    let is_open = schema["additionalProperties"] == true;
    for (name, field) in value.as_object().into_iter().flatten() {
        let property = &schema["properties"][name];
        if property.is_object() || is_open {
            found.push((within.to_owned(), name.clone()));
        }
        gather(within, property, field, found);
    }
}
