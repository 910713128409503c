//! Every reply in this suite must be what `/openapi.json` says: status, headers, media type, problem, and each field of
//! the body.

use std::sync::LazyLock;

use local::functions;
use reqwest::Method;
use serde_json::Value;

use crate::client::Reply;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(&functions::open_api().expect("the description is made")).expect("the description is JSON")
});

/// The description of the API.
pub fn document() -> &'static Value {
    &DOCUMENT
}

/// Panics unless the reply is a documented one.
#[track_caller]
pub fn check(method: &Method, path: &str, reply: &Reply) {
    let Some(operation) = operation(method, path) else {
        assert_eq!(reply.status, 404, "{method} {path} is not documented: {}", reply.body);
        return;
    };
    let at = format!("{method} {path}: {} {}", reply.status, reply.body);
    let response = &operation["responses"][reply.status.to_string()];
    for name in ["etag", "idempotent-replayed", "location", "preference-applied", "retry-after"] {
        let known = response["headers"].as_object().into_iter().flat_map(|headers| headers.keys());
        let is_known = known.into_iter().any(|known| known.eq_ignore_ascii_case(name));
        assert!(is_known || reply.header(name).is_none(), "{at}: the header {name} is not documented");
    }
    if reply.status == 204 {
        assert!(response.is_object() && response["content"].is_null(), "{at}: this status is not documented");
        return;
    }
    let schema = &response["content"][reply.header("content-type").expect("a media type")]["schema"];
    assert!(schema.is_object(), "{at}: this status and media type are not documented");
    if let Err(why) = conforms(schema, &reply.body) {
        panic!("{at}: {why}");
    }
    if let Some(slug) = reply.body["type"].as_str().and_then(|kind| kind.strip_prefix("/problems/")) {
        let documented = response["description"].as_str().expect("the slugs");
        assert!(documented.split(", ").any(|known| known == slug), "{at}: documented are {documented}");
    }
}

/// Panics unless the event is a documented one.
#[track_caller]
pub fn check_event(event: &Value) {
    let kind = event["detail-type"].as_str().expect("a kind");
    let schema = &DOCUMENT["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{event}: this kind is not documented");
    if let Err(why) = conforms(schema, &event["detail"]) {
        panic!("{event}: {why}");
    }
}

/// What the description says of this request.
pub fn operation(method: &Method, path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap_or_default();
    let matches = |template: &str| {
        let (wanted, given) = (template.split('/'), path.split('/'));
        wanted.clone().count() == given.clone().count()
            && wanted.zip(given).all(|(wanted, given)| wanted == given || wanted.starts_with('{'))
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let (_, operations) = paths.iter().find(|(template, _)| matches(template))?;
    operations.get(method.as_str().to_ascii_lowercase())
}

/// As much of JSON Schema as the description uses, and no field that it does not name.
pub fn conforms(schema: &Value, value: &Value) -> Result<(), String> {
    let mut fields = Vec::new();
    shape(schema, value, &mut fields)?;
    let unknown = value.as_object().and_then(|object| object.keys().find(|name| !fields.contains(&name.as_str())));
    match unknown {
        Some(name) if !fields.contains(&"*") => Err(format!("{name} is not documented")),
        _ => Ok(()),
    }
}

/// Checks what the schema says, and gathers the names of the fields it knows; `*` stands for any.
fn shape<'a>(schema: &'a Value, value: &Value, fields: &mut Vec<&'a str>) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = DOCUMENT.pointer(reference.trim_start_matches('#')).ok_or(format!("{reference} leads nowhere"))?;
        return shape(target, value, fields);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fitting = choices.iter().filter(|choice| conforms(choice, value).is_ok()).count();
        fields.push("*");
        return if fitting == 1 { Ok(()) } else { Err(format!("{fitting} of the choices fit {value}")) };
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        shape(part, value, fields)?;
    }
    is_of_type(schema, value)?;
    if let Some(allowed) = schema["enum"].as_array() {
        allowed.contains(value).then_some(()).ok_or(format!("{value} is none of {allowed:?}"))?;
    }
    if let Some(number) = value.as_i64() {
        let within = schema["minimum"].as_i64().is_none_or(|least| least <= number)
            && schema["maximum"].as_i64().is_none_or(|most| number <= most);
        within.then_some(()).ok_or(format!("{number} is out of bounds"))?;
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(&schema["items"], item)?;
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        value.get(name).ok_or(format!("{name} is missing"))?;
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        fields.push(name);
        if let Some(value) = value.get(name) {
            conforms(property, value).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    if schema["additionalProperties"] == true {
        fields.push("*");
    }
    Ok(())
}

fn is_of_type(schema: &Value, value: &Value) -> Result<(), String> {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(|allowed| allowed == kind),
        allowed => allowed == kind,
    };
    allowed.then_some(()).ok_or(format!("{value} is no {}", schema["type"]))
}
