//! What each caller asks of the table, by its recorded calls. The charts in `docs/key-schema.md` are made of it.

use std::collections::{BTreeMap, BTreeSet};

use devstack::fault_proxy::Call;
use key_schema::access::EVERY;
use key_schema::layout::Consistency;
use serde_json::{Map, Value};

use crate::pattern::{TableKey, consistency, entity, pattern, pattern_of_keys};

/// The record: what each caller asks of the table.
pub type Accesses = BTreeMap<String, Asked>;

/// What one caller asks of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The questions of its access patterns.
    pub patterns: BTreeSet<String>,
    /// The entities of all other reads, by the kind of request: `BatchGetItem, strong`.
    pub reads: BTreeMap<String, BTreeSet<String>>,
    pub writes: Vec<Written>,
}

/// The writes of one kind of one entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// `put`, `change`, `delete` or `check`.
    pub write: String,
    pub entity: String,
    /// Whether these are writes of a transaction.
    pub transaction: bool,
    /// The conditions, one of which each write has; an empty one for a write without a condition.
    pub conditions: BTreeSet<String>,
    /// The other writes of the transactions, such as `put order`.
    pub with: BTreeSet<String>,
}

impl Asked {
    fn read(&mut self, request: String, entities: impl IntoIterator<Item = String>) {
        self.reads.entry(request).or_default().extend(entities);
    }

    fn write(&mut self, new: Written) {
        let is_like = |old: &&mut Written| {
            (&old.write, &old.entity, old.transaction) == (&new.write, &new.entity, new.transaction)
        };
        if let Some(old) = self.writes.iter_mut().find(is_like) {
            old.conditions.extend(new.conditions);
            old.with.extend(new.with);
        } else {
            self.writes.push(new);
            self.writes.sort();
        }
    }
}

/// Records these calls. `caller` names the section of a call, by the access key that signed it; other calls are left
/// out. `entity` names an entity in the record, or leaves its items out.
pub fn record(
    calls: &[Call],
    caller: impl Fn(&str) -> Option<String>,
    entity: impl Fn(&'static str) -> Option<&'static str>,
) -> Accesses {
    let mut all = Accesses::new();
    for call in calls {
        if let Some(name) = call.caller.as_deref().and_then(&caller) {
            add(all.entry(name).or_default(), call, &entity);
        }
    }
    all
}

fn add(asked: &mut Asked, call: &Call, name_of: &impl Fn(&'static str) -> Option<&'static str>) {
    let request = &call.request;
    let names = |keys: &[TableKey]| -> Vec<String> {
        keys.iter().filter_map(|key| name_of(entity(key))).map(str::to_owned).collect()
    };
    match call.action.as_str() {
        "Query" => {
            let found = call.response["Items"].as_array().map(Vec::as_slice).unwrap_or_default();
            asked.patterns.insert(pattern(request, found).question.to_owned());
        }
        "Scan" => asked.read("Scan".to_owned(), [EVERY.to_owned()]),
        "BatchGetItem" => {
            for part in request["RequestItems"].as_object().into_iter().flat_map(Map::values) {
                let keys: Vec<_> = part["Keys"].as_array().expect("keys").iter().map(key_of).collect();
                let names = names(&keys);
                if let Some(pattern) = pattern_of_keys(&keys) {
                    asked.patterns.insert(pattern.question.to_owned());
                } else if !names.is_empty() {
                    asked.read(format!("BatchGetItem, {}", word(consistency(part))), names);
                }
            }
        }
        "GetItem" => asked.read(format!("GetItem, {}", word(consistency(request))), names(&[key_of(&request["Key"])])),
        "TransactGetItems" => {
            let items = request["TransactItems"].as_array().expect("items").iter();
            let names = names(&items.map(|item| key_of(&item["Get"]["Key"])).collect::<Vec<_>>());
            if !names.is_empty() {
                asked.read("TransactGetItems".to_owned(), names);
            }
        }
        "TransactWriteItems" | "PutItem" | "UpdateItem" | "DeleteItem" => add_writes(asked, call, name_of),
        other => panic!("{other}: no chart has such calls"),
    }
}

fn add_writes(asked: &mut Asked, call: &Call, name_of: &impl Fn(&'static str) -> Option<&'static str>) {
    let writes = writes_of(call);
    let texts: Vec<_> = writes
        .iter()
        .map(|(action, write)| {
            let entity = entity(&key_written(write));
            (verb(action), name_of(entity), write)
        })
        .collect();
    for (at, (verb, entity, write)) in texts.iter().enumerate() {
        let Some(entity) = *entity else { continue };
        let others = texts.iter().enumerate().filter(|(other, _)| *other != at);
        asked.write(Written {
            write: (*verb).to_owned(),
            entity: entity.to_owned(),
            transaction: call.action == "TransactWriteItems",
            conditions: [condition(write)].into(),
            with: others.map(|(_, (verb, entity, _))| format!("{verb} {}", entity.unwrap_or(EVERY))).collect(),
        });
    }
}

/// The writes of a call, with the action of each: `Put`, `Update`, `Delete` or `ConditionCheck`.
pub fn writes_of(call: &Call) -> Vec<(String, Value)> {
    match call.action.as_str() {
        "TransactWriteItems" => {
            let items = call.request["TransactItems"].as_array().expect("items").iter();
            let one = |item: &Value| {
                item.as_object().and_then(|item| item.iter().next()).map(|(a, w)| (a.clone(), w.clone()))
            };
            items.map(|item| one(item).expect("a write")).collect()
        }
        "PutItem" | "UpdateItem" | "DeleteItem" => {
            vec![(call.action.trim_end_matches("Item").to_owned(), call.request.clone())]
        }
        _ => Vec::new(),
    }
}

pub fn key_of(item: &Value) -> TableKey {
    let text = |name: &str| item[name]["S"].as_str().expect("a key").to_owned();
    (text("PK"), text("SK"))
}

pub fn key_written(write: &Value) -> TableKey {
    key_of(if write["Item"].is_null() { &write["Key"] } else { &write["Item"] })
}

fn verb(action: &str) -> &'static str {
    match action {
        "Put" => "put",
        "Update" => "change",
        "Delete" => "delete",
        "ConditionCheck" => "check",
        other => panic!("{other}: not a write"),
    }
}

fn word(consistency: Consistency) -> &'static str {
    match consistency {
        Consistency::Strong => "strong",
        Consistency::Eventual => "eventual",
    }
}

/// The condition of a write, with the names of attributes in place of their placeholders. Terms that
/// `Condition::as_read` and `Condition::same_numbers` made, one for each attribute, are one term.
fn condition(write: &Value) -> String {
    let Some(expression) = write["ConditionExpression"].as_str() else { return String::new() };
    let mut terms: Vec<String> = Vec::new();
    for term in expression.split(" AND ") {
        let made = |letter: char| {
            let mut names = term.split('#').skip(1).filter_map(|name| name.strip_prefix(letter));
            names.any(|number| number.starts_with(|first: char| first.is_ascii_digit()))
        };
        let text = match (made('b'), made('c')) {
            (true, _) => "[what changes is as read]",
            (_, true) => "[all numbers are as read]",
            _ => {
                terms.push(term.to_owned());
                continue;
            }
        };
        // The parentheses that the term shares with its neighbours.
        let depth = term.matches('(').count().cast_signed() - term.matches(')').count().cast_signed();
        let (open, close) = ("(".repeat(depth.max(0).unsigned_abs()), ")".repeat(depth.min(0).unsigned_abs()));
        let last = terms.last_mut().filter(|last| last.contains(text) && open.is_empty());
        match last {
            Some(last) => last.push_str(&close),
            None => terms.push(format!("{open}{text}{close}")),
        }
    }
    let mut text = terms.join(" AND ");
    let names = write["ExpressionAttributeNames"].as_object().into_iter().flatten();
    let mut names: Vec<_> = names.collect();
    // A placeholder may be the beginning of another one.
    names.sort_by_key(|(placeholder, _)| std::cmp::Reverse(placeholder.len()));
    for (placeholder, name) in names {
        text = text.replace(placeholder, name.as_str().expect("a name"));
    }
    text
}
