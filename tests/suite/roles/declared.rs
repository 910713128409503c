//! The enforced permissions are those that the template declares, and no declaration is broader than necessary.

use std::collections::BTreeSet;

use devstack::iam::{Guard, permit};
use key_schema::layout::ENTITIES;
use serde_json::Value;
use shop::template_text;
use yaml_serde::Value as Yaml;

use super::calls::{WAYS, query, sweeping};
use crate::completeness::template;

/// A statement about the table, parsed independently of the evaluator.
struct Declared {
    function: String,
    actions: Vec<String>,
    /// The index, if the statement is about one.
    index: Option<String>,
    /// Key patterns such as `o#*`, or whole keys.
    keys: BTreeSet<String>,
    in_transactions_only: bool,
}

fn list(value: &Yaml) -> Vec<String> {
    let texts = value.as_sequence().map_or(std::slice::from_ref(value), Vec::as_slice);
    texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn declared() -> Vec<Declared> {
    let text: Yaml = yaml_serde::from_str(&template_text()).expect("YAML");
    let mut all = Vec::new();
    for function in template().functions {
        let role = &text["Resources"][format!("{}Role", function.logical_id).as_str()]["Properties"];
        for statement in role["Policies"][0]["PolicyDocument"]["Statement"].as_sequence().expect("statements") {
            let Yaml::Tagged(resource) = &statement["Resource"] else { panic!("{statement:?}") };
            // A resource that depends on a condition is not the table.
            let Some(resource) = resource.value.as_str() else { continue };
            let index = match resource {
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

/// The prefix of every partition key of the schema, as a pattern: `o#*`.
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

/// Compares declaration and enforcement for every function, every action, the table and each index, and every kind of
/// key.
#[test]
fn a_role_allows_exactly_what_the_template_declares() {
    let template = template();
    let (guard, declared, table) = (Guard::new(&template, false), declared(), template.table_name());
    let allowed = |function: &str, action: &str, request: &Value| {
        let policies = guard.policies(function).expect("a role");
        guard.dynamodb_asks(action, request).iter().all(|ask| permit(policies, ask))
    };
    let says = |function: &str, needed: &str, in_transaction: bool, index: Option<&str>, keys: &[&String]| {
        declared.iter().any(|statement| {
            statement.function == function
                && statement.actions.contains(&format!("dynamodb:{needed}"))
                && statement.index.as_deref() == index
                && keys.iter().all(|key| statement.keys.contains(*key))
                && (in_transaction || !statement.in_transactions_only)
        })
    };

    let (patterns, mut checked, mut granted) = (patterns(), 0, 0);
    let mut check = |says: bool, is: bool, what: &dyn Fn() -> String| {
        assert_eq!(is, says, "enforced and declared: {}", what());
        (checked, granted) = (checked + 1, granted + usize::from(is));
    };
    for function in template.functions.iter().map(|function| function.logical_id.as_str()) {
        for (needed, action, in_transaction, ask) in WAYS {
            for one in &patterns {
                let is = allowed(function, action, &ask(table, &[key(one)]));
                check(says(function, needed, in_transaction, None, &[one]), is, &|| {
                    format!("{function} {action} {one}")
                });
                if !action.contains("Items") && !action.starts_with("Batch") {
                    continue;
                }
                for other in &patterns {
                    let is = allowed(function, action, &ask(table, &[key(one), key(other)]));
                    // A batch is authorised once with all of its keys, a transaction once for each item.
                    let says = if in_transaction {
                        [one, other].iter().all(|key| says(function, needed, true, None, &[key]))
                    } else {
                        says(function, needed, false, None, &[one, other])
                    };
                    check(says, is, &|| format!("{function} {action} {one} {other}"));
                }
            }
        }
        for index in ["GSI1", "GSI2"] {
            for one in &patterns {
                let is = allowed(function, "Query", &query(table, Some(index), &key(one)));
                check(says(function, "Query", false, Some(index), &[one]), is, &|| format!("{function} {index} {one}"));
            }
        }
        for (action, request) in sweeping(table).into_iter().chain(sweeping("theirs")) {
            check(false, allowed(function, action, &request), &|| format!("{function} {action} {request}"));
        }
        for (_, action, _, ask) in WAYS {
            for one in &patterns {
                let theirs = ask("theirs", &[key(one)]);
                check(false, allowed(function, action, &theirs), &|| format!("{function} {action} theirs"));
            }
        }
    }
    // Some calls are allowed, and nearly all are refused.
    assert!(granted > 100 && checked > 100 * granted, "{granted} of {checked}");
}

#[test]
fn no_role_has_a_wildcard_action_or_resource() {
    for function in template().functions {
        for statement in function.role.policies.iter().flat_map(|policy| &policy.statements) {
            let name = &function.logical_id;
            for action in &statement.actions {
                assert!(!action.contains('*') && !action.ends_with(":Scan"), "{name}: {action}");
            }
            // `ListStreams` lists all streams that a table ever had.
            let lists = statement.actions == ["dynamodb:ListStreams"];
            for resource in &statement.resources {
                let of_table = resource.strip_suffix("/stream/*").filter(|_| lists).unwrap_or(resource);
                assert!(!of_table.contains('*'), "{name}: {resource}");
            }
        }
        assert_eq!(function.role.name, format!("{}Role", function.logical_id), "a role has one function");
    }
}
