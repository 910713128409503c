//! The description as clients are generated from it. A client of today must understand the answers of tomorrow, so what may
//! grow in an answer or event is open: an enum becomes a text with `x-extensible-enum`, and a union of objects that `type`
//! tells apart becomes one object. Requests keep their enums.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use utoipa::openapi::OpenApi;

const SCHEMAS: &str = "#/components/schemas/";

/// Ends the name of a schema of requests if answers have the same schema with open enums.
const INPUT: &str = "Input";

/// The description as JSON, with the enums of answers open. `answers` has the examples of answers as JSON, by the id of the
/// operation and the status.
///
/// # Errors
/// `answers` is not JSON, or the description has no JSON form.
pub fn publish(api: &OpenApi, answers: &str) -> serde_json::Result<String> {
    let mut api = serde_json::to_value(api)?;
    let answers: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(answers)?;
    open(&mut api);
    for operation in operations(&mut api, "paths") {
        let answers = operation.get("operationId").and_then(Value::as_str).and_then(|id| answers.get(id));
        let answers: Vec<_> =
            answers.into_iter().flatten().map(|(status, body)| (status.clone(), body.clone())).collect();
        for (status, body) in answers {
            let response = operation.get_mut("responses").and_then(|responses| responses.get_mut(status));
            let content =
                response.and_then(|response| response.get_mut("content")?.as_object_mut()?.values_mut().next());
            if let Some(Value::Object(content)) = content {
                content.insert("example".to_owned(), body);
            }
        }
    }
    serde_json::to_string_pretty(&api)
}

/// The operations of the paths, or those of the webhooks.
fn operations<'a>(api: &'a mut Value, section: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let paths = api.get_mut(section).and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut);
    paths.filter_map(Value::as_object_mut).flat_map(Map::values_mut).filter_map(Value::as_object_mut)
}

fn open(api: &mut Value) {
    let Value::Object(mut schemas) = api["components"]["schemas"].take() else { return };
    let (mut sent, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for section in ["paths", "webhooks"] {
        for (name, part) in operations(api, section).flatten() {
            let into = if is_answer(section, name) { &mut shown } else { &mut sent };
            into.extend(reachable(&schemas, part));
        }
    }
    let has_enum = |name: &String| {
        let parts = reachable(&schemas, &schemas[name]);
        parts.iter().chain([name]).any(|part| schemas[part].to_string().contains("\"enum\":"))
    };
    let twins: BTreeSet<_> = sent.intersection(&shown).filter(|name| has_enum(name)).cloned().collect();
    let to_inputs = &mut |members: &mut Map<String, Value>| {
        if let Some(name) = reference(members).filter(|name| twins.contains(*name)) {
            members["$ref"] = format!("{SCHEMAS}{name}{INPUT}").into();
        }
    };

    let inputs: Vec<_> = twins.iter().map(|name| (format!("{name}{INPUT}"), schemas[name].clone())).collect();
    for (name, schema) in &mut schemas {
        if shown.contains(name) { each(schema, &mut open_object) } else { each(schema, to_inputs) }
    }
    for (name, mut schema) in inputs {
        each(&mut schema, to_inputs);
        schemas.insert(name, schema);
    }
    for section in ["paths", "webhooks"] {
        for (name, part) in operations(api, section).flatten() {
            if is_answer(section, name) { each(part, &mut open_object) } else { each(part, to_inputs) }
        }
    }
    api["components"]["schemas"] = schemas.into();
}

/// Whether the part of an operation describes what the shop sends.
fn is_answer(section: &str, part: &str) -> bool {
    section == "webhooks" || part == "responses"
}

fn open_object(members: &mut Map<String, Value>) {
    if let Some(kinds) = members.get("oneOf").and_then(Value::as_array)
        && kinds.iter().all(|kind| kind["properties"]["type"]["enum"].is_array())
        && let Some(Value::Object(whole)) = kinds.iter().cloned().reduce(either)
    {
        members.remove("oneOf");
        members.extend(whole.into_iter().filter(|(name, _)| name != "description"));
    }
    if let Some(known) = members.remove("enum") {
        members.insert("x-extensible-enum".to_owned(), known);
    }
}

/// An object of one of two kinds, of which `type` tells which.
fn either(mut one: Value, mut other: Value) -> Value {
    if let Some(required) = one["required"].as_array_mut() {
        required.retain(|name| other["required"].as_array().is_some_and(|of_other| of_other.contains(name)));
    }
    if let (Some(kinds), Some(more)) =
        (one["properties"]["type"]["enum"].as_array_mut(), other["properties"]["type"]["enum"].as_array_mut())
    {
        kinds.append(more);
    }
    if let (Some(members), Value::Object(more)) = (one["properties"].as_object_mut(), other["properties"].take()) {
        for (name, member) in more {
            members.entry(name).or_insert(member);
        }
    }
    one
}

/// The name of the schema to which this object refers.
fn reference(members: &Map<String, Value>) -> Option<&str> {
    members.get("$ref")?.as_str()?.strip_prefix(SCHEMAS)
}

/// The names of the schemas to which the part refers, also by way of others.
fn reachable(schemas: &Map<String, Value>, part: &Value) -> BTreeSet<String> {
    let (mut found, mut parts) = (BTreeSet::new(), vec![part]);
    while let Some(part) = parts.pop() {
        match part {
            Value::Object(members) => {
                if let Some(name) = reference(members)
                    && found.insert(name.to_owned())
                {
                    parts.extend(schemas.get(name));
                }
                parts.extend(members.values());
            }
            Value::Array(elements) => parts.extend(elements),
            _ => {}
        }
    }
    found
}

/// Changes each object in the part.
fn each(part: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match part {
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|member| each(member, change));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| each(element, change)),
        _ => {}
    }
}
