//! Checks every accepted request and every reply of this suite against `/openapi.json`: parameters, headers, status,
//! media type, problem, and each field of both bodies. A library evaluates the schemas.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Registry, RegistryBuilder, Validator};
use key_schema::value::Timestamp;
use local::functions;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Reply;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(functions::open_api()).expect("the description is JSON"));

/// The description of the API.
pub fn document() -> &'static Value {
    &DOCUMENT
}

/// The schema, with a reference resolved.
pub fn resolve(schema: &Value) -> &Value {
    let Some(reference) = schema["$ref"].as_str() else { return schema };
    DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

pub fn sample(schema: &Value) -> Value {
    let schema = resolve(schema);
    if let Some(choice) = ["oneOf", "anyOf"]
        .iter()
        .find_map(|name| schema[*name].as_array()?.iter().rfind(|choice| choice["type"] != "null"))
    {
        return sample(choice);
    }
    // Parts of an `allOf` may only restrict other parts.
    if let Some(parts) = schema["allOf"].as_array() {
        return sample(&parts[0]);
    }
    let kind = if schema["type"].is_array() { &schema["type"][0] } else { &schema["type"] };
    match kind.as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let value = |name: &str, property| match name {
                "email" => json!("ada@example.com"),
                // Of the first country, which is Andorra.
                "postalCode" => json!("AD500"),
                _ => sample(property),
            };
            properties.map(|(name, property)| (name.clone(), value(name, property))).collect()
        }
        Some("array") => json!([sample(&schema["items"])]),
        Some("boolean") => json!(true),
        Some("integer") => json!(schema["minimum"].as_i64().filter(|least| *least > 0).unwrap_or(1)),
        _ => match (schema["format"].as_str(), schema["pattern"].as_str(), schema["enum"].as_array()) {
            (_, _, Some(names)) => names[0].clone(),
            (Some("date" | "date-time" | "date-time-or-date"), ..) => json!("2026-11-21"),
            (_, Some("^[A-Z]{3}$"), _) => json!("EUR"),
            (_, Some(pattern), _) if pattern.starts_with("^https://") => json!("https://example.com"),
            _ => json!("a-text-of-20-letters"),
        },
    }
}

pub struct Sent<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Option<&'a str>,
}

/// Panics unless the reply is documented. If the reply is a success, the request must be documented, too.
#[track_caller]
pub fn check(sent: &Sent<'_>, reply: &Reply) {
    let Sent { method, path, .. } = sent;
    let Some((template, operation)) = found(method, path) else {
        assert_eq!(reply.status, 404, "{method} {path} is not documented: {}", reply.body);
        return;
    };
    let at = format!("{method} {path}: {} {}", reply.status, reply.body);
    if reply.status < 300
        && let Err(why) = is_documented(sent, template, operation)
    {
        panic!("{at}: the request was accepted, and is not documented: {why}");
    }
    let response = &operation["responses"][reply.status.to_string()];
    for name in ["etag", "idempotent-replayed", "location", "preference-applied", "retry-after"] {
        let known = response["headers"].as_object().into_iter().flat_map(|headers| headers.keys());
        let is_known = known.into_iter().any(|known| known.eq_ignore_ascii_case(name));
        assert!(is_known || reply.header(name).is_none(), "{at}: the header {name} is not documented");
    }
    if [204, 304].contains(&reply.status) {
        assert!(response.is_object() && response["content"].is_null(), "{at}: this status is not documented");
        return;
    }
    // Without its parameters, such as the character set.
    let media_type = reply.header("content-type").expect("a media type").split(';').next().unwrap_or_default();
    let schema = &response["content"][media_type]["schema"];
    assert!(schema.is_object(), "{at}: this status and media type are not documented");
    if let Err(why) = conforms(&closed(schema.clone(), false), &reply.body) {
        panic!("{at}: {why}");
    }
    if let Some(slug) = reply.body["type"].as_str().and_then(|kind| kind.strip_prefix("/problems/")) {
        let documented = response["description"].as_str().expect("the slugs");
        assert!(documented.split(", ").any(|known| known == slug), "{at}: documented are {documented}");
    }
}

/// Panics unless the event is documented.
#[track_caller]
pub fn check_event(event: &Value) {
    let kind = event["detail-type"].as_str().expect("a kind");
    let schema = &DOCUMENT["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{event}: this kind is not documented");
    if let Err(why) = conforms(&closed(schema.clone(), false), &event["detail"]) {
        panic!("{event}: {why}");
    }
}

/// Checks that the description of its operation allows the request.
fn is_documented(sent: &Sent<'_>, template: &str, operation: &Value) -> Result<(), String> {
    let (path, query) = sent.path.split_once('?').unwrap_or((sent.path, ""));
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let mut given: Vec<(&str, &str, String)> =
        pairs.iter().map(|(name, value)| ("query", name.as_str(), value.clone())).collect();
    given.extend(
        template
            .split('/')
            .zip(path.split('/'))
            .filter_map(|(name, value)| Some(("path", name.strip_prefix('{')?.strip_suffix('}')?, value.to_owned()))),
    );
    let read = ["guest-secret", "if-match", "if-none-match", "idempotency-key", "prefer", "stripe-signature"];
    let headers = sent.headers.iter().filter(|(name, _)| read.contains(name));
    given.extend(headers.map(|(name, value)| ("header", *name, (*value).to_owned())));

    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |parameter: &Value, place: &str, name: &str| {
        parameter["in"] == place && parameter["name"].as_str().is_some_and(|known| known.eq_ignore_ascii_case(name))
    };
    for (place, name, value) in &given {
        let Some(parameter) = parameters.iter().find(|parameter| named(parameter, place, name)) else {
            // Tests may send headers that a route does not read.
            if *place == "header" {
                continue;
            }
            return Err(format!("there is no parameter {name}"));
        };
        let value = match resolve(&parameter["schema"])["type"].as_str() {
            Some("integer" | "boolean") => serde_json::from_str(value).unwrap_or_else(|_| json!(value)),
            Some("array") => json!(value.split(',').collect::<Vec<_>>()),
            _ => json!(value),
        };
        conforms(&parameter["schema"], &value).map_err(|why| format!("{name}: {why}"))?;
    }
    for parameter in parameters.iter().filter(|parameter| parameter["required"] == true) {
        let name = parameter["name"].as_str().unwrap_or_default();
        let is_given = given.iter().any(|(place, given, _)| named(parameter, place, given));
        is_given.then_some(()).ok_or(format!("{name} is missing"))?;
    }

    let request = &operation["requestBody"];
    match sent.body.filter(|body| !body.is_empty()) {
        // Tests may send a body that a route does not read.
        Some(_) if request.is_null() => Ok(()),
        Some(body) => {
            let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
            conforms(&request["content"]["application/json"]["schema"], &body)
        }
        None if request["required"] == true => Err("the body is missing".to_owned()),
        None => Ok(()),
    }
}

fn found(method: &Method, path: &str) -> Option<(&'static str, &'static Value)> {
    let path = path.split('?').next().unwrap_or_default();
    let matches = |template: &str| {
        let (wanted, given) = (template.split('/'), path.split('/'));
        wanted.clone().count() == given.clone().count()
            && wanted.zip(given).all(|(wanted, given)| wanted == given || wanted.starts_with('{'))
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    // Like the gateway, which chooses among the routes of the method.
    let mut of_method = paths.iter().filter_map(|(template, operations)| {
        Some((template.as_str(), operations.get(method.as_str().to_ascii_lowercase())?))
    });
    of_method.find(|(template, _)| matches(template))
}

/// The description of this request's operation.
pub fn operation(method: &Method, path: &str) -> Option<&'static Value> {
    found(method, path).map(|(_, operation)| operation)
}

/// The schemas of the description: unchanged for requests, and closed for the shop's replies.
static SCHEMAS: LazyLock<Registry<'static>> = LazyLock::new(|| {
    let mut schemas = serde_json::Map::new();
    for (name, schema) in DOCUMENT["components"]["schemas"].as_object().expect("schemas") {
        schemas.insert(name.clone(), schema.clone());
        schemas.insert(format!("{CLOSED}{name}"), closed(schema.clone(), false));
        schemas.insert(format!("{PART}{name}"), closed(schema.clone(), true));
    }
    let document = json!({ "components": { "schemas": schemas } });
    Registry::new().add(API, document).and_then(RegistryBuilder::prepare).expect("the schemas are valid")
});

/// The place of the schemas.
const API: &str = "till:/api";
const SCHEMA: &str = "#/components/schemas/";
const CLOSED: &str = "closed-";
const PART: &str = "part-";

/// Closes the schema, so that it allows no undescribed fields. Clients must tolerate new fields, but here each must be
/// described. A part of an `allOf` stays open, because the whole is closed.
///
/// The values of an enum may become more, too, and each that the shop sends must be described.
pub fn closed(mut schema: Value, is_part: bool) -> Value {
    let Some(keywords) = schema.as_object_mut() else { return schema };
    if let Some(known) = keywords.remove("x-extensible-enum") {
        keywords.insert("enum".to_owned(), known);
    }
    if let Some(reference) = keywords.get_mut("$ref") {
        let name = reference.as_str().expect("a text").trim_start_matches(SCHEMA);
        *reference = json!(format!("{SCHEMA}{}{name}", if is_part { PART } else { CLOSED }));
    }
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for property in properties.values_mut() {
                    *property = closed(property.take(), false);
                }
            }
            ("oneOf" | "anyOf", Value::Array(choices)) => {
                for choice in choices {
                    *choice = closed(choice.take(), is_part);
                }
            }
            ("allOf", Value::Array(parts)) => {
                for part in parts {
                    *part = closed(part.take(), true);
                }
            }
            ("items" | "additionalProperties", value) => *value = closed(value.take(), false),
            _ => {}
        }
    }
    let names_fields = keywords.contains_key("properties") || keywords.contains_key("allOf");
    if names_fields && !is_part && !keywords.contains_key("additionalProperties") {
        keywords.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    schema
}

/// Validates the value, with all keywords and formats of the schema.
pub fn conforms(schema: &Value, value: &Value) -> Result<(), String> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let text = schema.to_string();
    let known = VALIDATORS.lock().expect("no test panics while it holds the lock").get(&text).cloned();
    let validator = known.unwrap_or_else(|| {
        let schema = text.replace("\"#/", &format!("\"{API}#/"));
        let schema = serde_json::from_str(&schema).expect("JSON");
        let options = jsonschema::draft202012::options().should_validate_formats(true).with_registry(&SCHEMAS);
        let options = options.with_format("date-time-or-date", |text: &str| text.parse::<Timestamp>().is_ok());
        let validator = Arc::new(options.build(&schema).unwrap_or_else(|error| panic!("{text}: {error}")));
        VALIDATORS.lock().expect("no test panics while it holds the lock").insert(text, Arc::clone(&validator));
        validator
    });
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
}
