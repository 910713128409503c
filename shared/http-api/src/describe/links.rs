//! OpenAPI links: they tell clients which operations take a value from an answer's body as their path parameter.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use utoipa::openapi::link::{Link, LinkBuilder};
use utoipa::openapi::{RefOr, Schema};

use super::Description;
use crate::Route;

/// All operations that have a path parameter.
pub(super) struct Links {
    /// For each parameter's name: its operations, each with its tag.
    by_parameter: BTreeMap<&'static str, Vec<(String, &'static str)>>,
}

impl Links {
    pub(super) fn of(functions: &[(String, Description)]) -> Self {
        let mut by_parameter: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, description) in functions {
            for parameter in description.route.path_parameters() {
                by_parameter.entry(parameter).or_default().push((name.clone(), description.route.collection()));
            }
        }
        Self { by_parameter }
    }

    /// The links of an answer of this route: to each operation whose path parameter is a member of the body, or a
    /// member of a member. If operations of several tags have a parameter of the same name, such as `code`, only those
    /// with the route's own tag are linked.
    pub(super) fn of_answer(
        &self,
        route: &Route,
        body: Option<&RefOr<Schema>>,
        schemas: &[(String, RefOr<Schema>)],
    ) -> Vec<(String, Link)> {
        let members = body.map(|body| members(&json(body), schemas)).unwrap_or_default();
        let mut links = Vec::new();
        for (parameter, operations) in &self.by_parameter {
            let Some(pointer) = members.get(*parameter) else { continue };
            let owners: BTreeSet<_> = operations.iter().map(|(_, tag)| tag).collect();
            for (operation, _) in operations.iter().filter(|(_, of)| owners.len() == 1 || *of == route.collection()) {
                let value = format!("$response.body#{pointer}");
                links.push((
                    operation.clone(),
                    LinkBuilder::new().operation_id(operation).parameter(*parameter, value).build(),
                ));
            }
        }
        links
    }
}

fn json(schema: &RefOr<Schema>) -> Value {
    // A schema is plain data, so serializing it cannot fail.
    serde_json::to_value(schema).unwrap_or_default()
}

/// The members of an object and the members of these, each with the JSON Pointer to it. If two have the same name, the
/// outer one counts.
fn members(schema: &Value, schemas: &[(String, RefOr<Schema>)]) -> BTreeMap<String, String> {
    let resolved = |schema: &Value| match schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        Some(name) => {
            schemas.iter().find(|(known, _)| known == name).map(|(_, schema)| json(schema)).unwrap_or_default()
        }
        None => schema.clone(),
    };
    let properties = |schema: &Value| resolved(schema)["properties"].as_object().cloned().unwrap_or_default();
    let outer = properties(schema);
    let mut found = BTreeMap::new();
    for (name, of) in &outer {
        for inner in properties(of).keys() {
            found.insert(inner.clone(), format!("/{name}/{inner}"));
        }
    }
    found.extend(outer.keys().map(|name| (name.clone(), format!("/{name}"))));
    found
}
