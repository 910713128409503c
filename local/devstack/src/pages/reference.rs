//! The reference of the API: its OpenAPI document as a page.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::page;

/// The members of a path that are operations.
const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

/// Limits of a schema that its line names.
const LIMITS: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "pattern",
];

/// The page for an OpenAPI document.
pub(crate) fn reference(openapi: &str) -> Response<Body> {
    let document: Value = serde_json::from_str(openapi).unwrap_or_default();
    let title = document["info"]["title"].as_str().unwrap_or("Reference");
    let api = Api(&document);
    page(StatusCode::OK, title, &api.page(title))
}

struct Api<'a>(&'a Value);

/// One method of a path, or a webhook.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    described: &'a Value,
    /// The parameters that all methods of the path have.
    shared: &'a Value,
}

impl Operation<'_> {
    fn id(&self) -> String {
        format!("{}-{}", self.method, self.path.trim_matches('/').replace(['/', '{', '}'], "-"))
    }

    fn tag(&self) -> &str {
        self.described["tags"][0].as_str().unwrap_or_default()
    }
}

impl<'a> Api<'a> {
    fn page(&self, title: &str) -> Markup {
        let (operations, webhooks) = (self.operations("paths"), self.operations("webhooks"));
        let mut tags: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
        for operation in &operations {
            tags.entry(operation.tag()).or_default().push(operation);
        }
        html! {
            p { a href="/" { "Start" } }
            h1 { (title) " " span.quiet { (string(&self.0["info"]["version"])) } }
            (prose(&self.0["info"]["description"]))
            ul {
                @for (tag, operations) in &tags {
                    li { (tag)
                        ul { @for operation in operations { li { a href={ "#" (operation.id()) } { (heading(operation)) } } } }
                    }
                }
                @if !webhooks.is_empty() { li { a href="#webhooks" { "Webhooks" } } }
                li { a href="#schemas" { "Schemas" } }
            }
            @for (tag, operations) in &tags {
                h2 { (tag) }
                @for operation in operations { (self.operation(operation)) }
            }
            @if !webhooks.is_empty() {
                h2 id="webhooks" { "Webhooks" }
                @for webhook in &webhooks { (self.operation(webhook)) }
            }
            h2 id="schemas" { "Schemas" }
            @for (name, schema) in members(&self.0["components"]["schemas"]) {
                h3 id={ "schema-" (name) } { (name) }
                (self.schema(schema))
            }
        }
    }

    fn operations(&self, section: &str) -> Vec<Operation<'a>> {
        let paths = members(&self.0[section]).flat_map(|(path, item)| {
            METHODS.iter().filter_map(move |method| {
                let described = item.get(method)?;
                Some(Operation { method, path, described, shared: &item["parameters"] })
            })
        });
        paths.collect()
    }

    fn operation(&self, operation: &Operation) -> Markup {
        let described = operation.described;
        let lists = [operation.shared, &described["parameters"]];
        let parameters: Vec<_> = lists.iter().flat_map(|list| array(list)).map(|each| self.resolved(each)).collect();
        let body = self.resolved(&described["requestBody"]);
        html! {
            h3 id=(operation.id()) { (heading(operation)) }
            p { strong { (string(&described["summary"])) } }
            (prose(&described["description"]))
            p.quiet { (security(described)) }
            @if !parameters.is_empty() {
                table {
                    tr { th { "Parameter" } th { "In" } th { "Type" } th { "Description" } }
                    @for parameter in parameters {
                        tr {
                            td { code { (string(&parameter["name"])) } (required(parameter["required"] == true)) }
                            td { (string(&parameter["in"])) }
                            td { (self.kind(&parameter["schema"])) }
                            td { (prose(&parameter["description"])) }
                        }
                    }
                }
            }
            @if !body.is_null() {
                p { "Body" (required(body["required"] == true)) ": " (self.content(body)) }
                (prose(&body["description"]))
            }
            @if described["responses"].is_object() {
                table {
                    tr { th { "Status" } th { "Description" } th { "Body" } }
                    @for (status, response) in members(&described["responses"]) {
                        @let response = self.resolved(response);
                        tr {
                            td { code { (status) } }
                            td { (prose(&response["description"])) }
                            td { (self.content(response)) }
                        }
                    }
                }
            }
        }
    }

    /// The media types of a body, each with its schema and an example.
    fn content(&self, body: &Value) -> Markup {
        html! {
            @for (media_type, content) in members(&body["content"]) {
                span.quiet { (media_type) } " " (self.kind(&content["schema"]))
                @if let Some(example) = example(content) {
                    details { summary { "Example" } pre { (serde_json::to_string_pretty(example).unwrap_or_default()) } }
                }
            }
        }
    }

    fn schema(&self, schema: &Value) -> Markup {
        let needed: Vec<_> = array(&schema["required"]).filter_map(Value::as_str).collect();
        html! {
            (prose(&schema["description"]))
            @if schema["properties"].is_object() {
                table {
                    tr { th { "Member" } th { "Type" } th { "Description" } }
                    @for (name, property) in members(&schema["properties"]) {
                        tr {
                            td { code { (name) } (required(needed.contains(&name))) }
                            td { (self.kind(property)) }
                            td { (prose(&property["description"])) }
                        }
                    }
                }
            } @else {
                p { (self.kind(schema)) }
            }
            @for part in array(&schema["allOf"]) { (self.part(part)) }
        }
    }

    fn part(&self, part: &Value) -> Markup {
        html! {
            @if part["$ref"].is_string() { p { "All of " (self.kind(part)) } } @else { (self.schema(part)) }
        }
    }

    fn kind(&self, schema: &Value) -> Markup {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return html! { a href={ "#schema-" (name) } { (name) } };
        }
        let types: Vec<_> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        let mut limits: Vec<_> = LIMITS.iter().filter_map(|name| Some((*name, schema.get(name)?))).collect();
        limits.extend(schema.get("format").map(|format| ("format", format)));
        let alternatives: Vec<_> = ["oneOf", "anyOf"].iter().flat_map(|list| array(&schema[*list])).collect();
        html! {
            (types.join(" or "))
            @if schema["items"].is_object() { " of " (self.kind(&schema["items"])) }
            @if schema["additionalProperties"].is_object() { " of " (self.kind(&schema["additionalProperties"])) }
            @for (number, alternative) in alternatives.iter().enumerate() {
                @if number > 0 { " or " }
                (self.kind(alternative))
            }
            @if let Some(only) = schema.get("const") { " " code { (only) } }
            @for (number, value) in array(&schema["enum"]).chain(array(&schema["x-extensible-enum"])).enumerate() {
                @if number > 0 { "," }
                " " code { (string(value)) }
            }
            @if schema["x-extensible-enum"].is_array() { " or others" }
            @for (name, limit) in limits { " " span.quiet { (name) " " code { (string(limit)) } } }
            @if schema["properties"].is_object() && schema.get("title").is_none() {
                details { summary { "members" } (self.schema(schema)) }
            }
        }
    }

    /// The component that a reference names, or the value itself.
    fn resolved<'b>(&self, value: &'b Value) -> &'b Value
    where
        'a: 'b,
    {
        let pointer = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        pointer.and_then(|pointer| self.0.pointer(pointer)).unwrap_or(value)
    }
}

fn heading(operation: &Operation) -> Markup {
    html! { code { span.method { (operation.method.to_uppercase()) } " " (operation.path) } }
}

/// The scopes that an operation requires.
fn security(operation: &Value) -> String {
    let scopes: Vec<_> = array(&operation["security"])
        .flat_map(members)
        .flat_map(|(_, scopes)| array(scopes))
        .filter_map(Value::as_str)
        .collect();
    match (scopes.as_slice(), &operation["security"]) {
        ([], Value::Array(schemes)) if schemes.is_empty() => "Public.".to_owned(),
        ([], _) => String::new(),
        (scopes, _) => format!("Needs a token with the scope {}.", scopes.join(" or ")),
    }
}

fn example(content: &Value) -> Option<&Value> {
    let several = content.get("examples").and_then(Value::as_object);
    let first = several.and_then(|examples| examples.values().find_map(|example| example.get("value")));
    content.get("example").or(first)
}

fn required(is_required: bool) -> &'static str {
    if is_required { " (required)" } else { "" }
}

/// The paragraphs of a description. Code between backticks is set as code; other Markdown is shown as written.
fn prose(text: &Value) -> Markup {
    html! {
        @for paragraph in string(text).split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            p {
                @for (number, part) in paragraph.split('`').enumerate() {
                    @if number % 2 == 1 { code { (part) } } @else { (part) }
                }
            }
        }
    }
}

fn string(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members: Option<&Map<String, Value>> = value.as_object();
    members.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;
