//! The enforced permissions are those that the template declares, and no declaration is broader than necessary.

use std::collections::{BTreeMap, BTreeSet};

use devstack::Template;
use devstack::iam::{Guard, permit};
use fastrand::Rng;
use key_schema::layout::{ENTITIES, INSTEAD, Layout};
use serde_json::{Value, json};
use shop::read;
use shop::seed::{long, random};
use shop::tables::{logical_id, name_of, template_with};
use yaml_serde::Value as Yaml;

use super::calls::{WAYS, is_of_keys, query, sweeping};

/// The only function that may scan a table.
const SCANNING: &str = "CopyItems";

/// A statement about the table, parsed independently of the evaluator.
struct Declared {
    /// The names of the actions, without the service's.
    actions: Vec<String>,
    /// The index, if the statement is about one.
    index: Option<String>,
    /// Key patterns such as `o#*`, or whole keys, of both layouts. Empty if the statement names none.
    keys: BTreeSet<String>,
    in_transactions_only: bool,
    of_keys_only: bool,
}

impl Declared {
    fn has_key(&self, key: &str) -> bool {
        self.keys.contains(key) || self.keys.contains("*")
    }
}

fn list(value: &Yaml) -> Vec<String> {
    let texts = value.as_sequence().map_or(std::slice::from_ref(value), Vec::as_slice);
    texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// The name in a `!Ref`, or the text of a `!Sub`. `None` for an `!If` with another condition.
fn under<'a>(condition: &str, value: &'a Yaml) -> Option<&'a str> {
    let Yaml::Tagged(tagged) = value else { return None };
    if tagged.tag == "If" {
        return (tagged.value[0] == condition).then(|| under(condition, &tagged.value[1])).flatten();
    }
    tagged.value.as_str()
}

/// The statements about the table with this layout, in a stack with two tables, by the function.
fn declared(layout: Layout) -> BTreeMap<String, Vec<Declared>> {
    let text: Yaml = yaml_serde::from_str(&read("stacks/roles.yaml")).expect("YAML");
    let (table, condition) = (logical_id(layout), format!("Has{}", layout.name().to_uppercase()));
    let properties = |name: &str| &text["Resources"][name]["Properties"];
    let mut all = BTreeMap::new();
    for function in template_with("v1-v2").functions {
        let role = properties(&format!("{}Role", function.logical_id));
        let inline = role["Policies"].as_sequence().expect("policies").iter();
        let managed = role["ManagedPolicyArns"].as_sequence().expect("policies").iter();
        // Under a condition, such as that of a migration, or without one.
        let managed = managed.map(|policy| {
            let Yaml::Tagged(policy) = policy else { panic!("{policy:?}") };
            let name = if let Yaml::Tagged(inner) = &policy.value[1] { &inner.value } else { &policy.value };
            properties(name.as_str().expect("a name"))
        });
        let policies = inline.chain(managed);
        let statements =
            policies.flat_map(|policy| policy["PolicyDocument"]["Statement"].as_sequence().expect("statements"));
        let mut of_function = Vec::new();
        for statement in statements {
            // What is not about the tables has one resource.
            let of_each_table = statement["Resource"].as_sequence().into_iter().flatten();
            let index = of_each_table.filter_map(|resource| under(&condition, resource)).find_map(|resource| {
                match resource.strip_prefix(&format!("${{{table}}}/")) {
                    None => (resource == table).then_some(None),
                    Some(inner) => inner.strip_prefix("index/").map(|index| Some(index.to_owned())),
                }
            });
            let Some(index) = index else { continue };
            let condition = &statement["Condition"];
            let actions = list(&statement["Action"]).into_iter();
            let actions: Vec<_> = actions.map(|action| action.replace("dynamodb:", "")).collect();
            let mut keys = BTreeSet::new();
            if actions != ["Scan"] {
                assert_eq!(condition["Null"]["dynamodb:LeadingKeys"], "false", "ForAllValues holds of no keys, too");
                keys.extend(list(&condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]));
            }
            of_function.push(Declared {
                actions,
                index,
                keys,
                in_transactions_only: !condition["ForAnyValue:StringEquals"].is_null(),
                of_keys_only: !condition["StringEqualsIfExists"]["dynamodb:Select"].is_null(),
            });
        }
        all.insert(function.logical_id.clone(), of_function);
    }
    all
}

/// The prefix of every partition key of the schema in this layout, as a pattern: `o#*`.
fn patterns(layout: Layout) -> BTreeSet<String> {
    let places = ENTITIES.iter().flat_map(|(_, places)| places.iter()).chain(INSTEAD);
    let patterns = places.map(|place| match layout.place(*place).partition.split_once('{') {
        None => layout.place(*place).partition,
        Some((prefix, _)) => format!("{prefix}*"),
    });
    patterns.collect()
}

fn key(pattern: &str) -> String {
    pattern.replace('*', "1")
}

/// Compares declaration and enforcement in a stack with two tables, for every function, every action, each table with
/// its indexes, and every kind of key. Of the pairs of keys in one call: those that are granted, and some others. Of the
/// keys of another table: some.
#[test]
fn a_role_allows_exactly_what_the_template_declares() {
    let template = template_with("v1-v2");
    let mut random = random();
    for layout in Layout::ALL {
        compare(&template, *layout, &mut random);
    }
}

fn compare(template: &Template, layout: Layout, random: &mut Rng) {
    let table = name_of(template, layout).expect("the table");
    let (guard, declared) = (Guard::new(template, false), declared(layout));
    let allowed = |function: &str, action: &str, request: &Value| {
        let policies = guard.policies(function).expect("a role");
        guard.dynamodb_asks(action, request).iter().all(|ask| permit(policies, ask))
    };
    let says_of = |function: &str, needed: &str, (in_transaction, of_keys), index: Option<&str>, keys: &[&String]| {
        declared[function].iter().any(|statement| {
            statement.actions.iter().any(|action| action == needed)
                && statement.index.as_deref() == index
                && keys.iter().all(|key| statement.has_key(key))
                && (in_transaction || !statement.in_transactions_only)
                && (of_keys || !statement.of_keys_only)
        })
    };
    let says =
        |function: &str, needed: &str, index, keys: &[&String]| says_of(function, needed, (false, false), index, keys);

    // One of them at random, or all.
    let mut one_of = |patterns: &BTreeSet<String>| {
        let chosen = random.choice(patterns).expect("a pattern").clone();
        move |pattern: &&String| long().is_some() || **pattern == chosen
    };
    let (patterns, mut checked, mut granted) = (patterns(layout), 0, 0);
    let mut check = |says: bool, is: bool, what: &dyn Fn() -> String| {
        assert_eq!(is, says, "enforced and declared: {}", what());
        (checked, granted) = (checked + 1, granted + usize::from(is));
    };
    for function in template.functions.iter().map(|function| function.logical_id.as_str()) {
        for (needed, action, in_transaction, ask) in WAYS {
            for one in &patterns {
                let request = ask(table, &[key(one)]);
                let within = (in_transaction, is_of_keys(&request, table));
                let is = allowed(function, action, &request);
                check(says_of(function, needed, within, None, &[one]), is, &|| format!("{function} {action} {one}"));
                if !action.contains("Items") && !action.starts_with("Batch") {
                    continue;
                }
                // All of them are half a million calls.
                let is_some = one_of(&patterns);
                let is_chosen = |other: &&String| is_some(other) || says_of(function, needed, within, None, &[other]);
                for other in patterns.iter().filter(is_chosen) {
                    let is = allowed(function, action, &ask(table, &[key(one), key(other)]));
                    // A batch is authorised once with all of its keys, a transaction once for each item.
                    let says = if in_transaction {
                        [one, other].iter().all(|key| says_of(function, needed, within, None, &[key]))
                    } else {
                        says_of(function, needed, within, None, &[one, other])
                    };
                    check(says, is, &|| format!("{function} {action} {one} {other}"));
                }
            }
        }
        for index in ["GSI1", "GSI2"] {
            for one in &patterns {
                let is = allowed(function, "Query", &query(table, Some(index), &key(one)));
                check(says(function, "Query", Some(index), &[one]), is, &|| format!("{function} {index} {one}"));
            }
        }
        for (action, request) in sweeping(table).into_iter().chain(sweeping("theirs")) {
            let is_scan_of_table = action == "Scan" && request == json!({ "TableName": table });
            let says = is_scan_of_table && says(function, "Scan", None, &[]);
            assert_eq!(says, is_scan_of_table && function == SCANNING, "the only function that may scan");
            check(says, allowed(function, action, &request), &|| format!("{function} {action} {request}"));
        }
        for (_, action, _, ask) in WAYS {
            for one in patterns.iter().filter(one_of(&patterns)) {
                let theirs = ask("theirs", &[key(one)]);
                check(false, allowed(function, action, &theirs), &|| format!("{function} {action} theirs"));
            }
        }
    }
    // Some calls are allowed, and nearly all are refused. Most of those allowed are of the functions that copy items of every
    // kind.
    assert!(granted > 100 && checked > 5 * granted, "{granted} of {checked}");
}

/// So a statement may have the prefixes of both, and allows nothing that is of use in the other one's table.
#[test]
fn a_prefix_of_one_layout_matches_no_key_of_the_other() {
    let [old, new] = [Layout::V1, Layout::V2].map(patterns);
    for (these, others) in [(&old, &new), (&new, &old)] {
        for pattern in these {
            let is_matched = |other: &&String| match pattern.strip_suffix('*') {
                Some(prefix) => other.starts_with(prefix),
                None => *other == pattern,
            };
            assert_eq!(others.iter().find(is_matched), None, "{pattern}");
        }
    }
}

#[test]
fn no_role_has_a_wildcard_action_or_resource() {
    for function in template_with("v1-v2").functions {
        for statement in function.role.policies.iter().flat_map(|policy| &policy.statements) {
            let name = &function.logical_id;
            for action in &statement.actions {
                let may_scan = name == SCANNING;
                assert!(!action.contains('*') && (may_scan || !action.ends_with(":Scan")), "{name}: {action}");
            }
            // `ListStreams` lists all streams that a table ever had.
            let lists = statement.actions == ["dynamodb:ListStreams"];
            for resource in &statement.resources {
                let of_table = resource.strip_suffix("/stream/*").filter(|_| lists).unwrap_or(resource);
                // Objects of images have the ids of products in their keys, and those of Lambda the times of batches.
                let is_object = statement.actions.iter().all(|action| action.starts_with("s3:"));
                let of_bucket =
                    ["-images-bucket/images/*", "-lost-counts-bucket/aws/lambda/*", "-lost-events-bucket/aws/lambda/*"]
                        .iter()
                        .find_map(|objects| of_table.strip_suffix(objects).filter(|_| is_object));
                assert!(!of_bucket.unwrap_or(of_table).contains('*'), "{name}: {resource}");
            }
        }
        assert_eq!(function.role.name, format!("{}Role", function.logical_id), "a role has one function");
    }
}
