//! A function's call of a service, as a story tells it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Keys;
use super::readable::{expression_of, shortened, value};
use crate::fault_proxy::{self, Access, Consumed};

/// The most parts of a call, and the most keys of a part.
const MOST: usize = 100;

/// The code of a condition that did not hold.
pub const FAILED: &str = "ConditionalCheckFailed";

/// One call.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The service, such as `DynamoDB`.
    pub service: &'static str,
    /// The action, such as `TransactWriteItems`.
    pub action: String,
    /// What it asked: one part for each item of a transaction, each table of a batch, each message, each event.
    pub parts: Vec<Part>,
    /// 1, or more if the same call came before.
    pub attempt: usize,
    /// Whether all its reads are strongly consistent. `None`: it reads nothing.
    pub consistent: Option<bool>,
    /// The status of the answer. `None`: there was none.
    pub status: Option<u16>,
    /// The exception that it was answered with.
    pub error: Option<String>,
    /// The fault that a test injected.
    pub fault: Option<String>,
    /// The time between the beginning of the invocation and the call.
    pub after_ms: f64,
    pub took_ms: f64,
    /// The units that it consumed.
    pub units: Vec<Units>,
}

/// What a call asked of one item, table, queue or bus.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Such as `Put`, `Query`, or the type of an event.
    pub action: String,
    /// The name of the table, queue, bus or bucket.
    pub on: String,
    pub index: Option<String>,
    /// The condition on the keys, with its values; the body of a message.
    pub what: Option<String>,
    pub filter: Option<String>,
    /// The keys of the items that it touched, or the ids of the messages.
    pub keys: Vec<Vec<String>>,
    /// The number of items that it touched.
    pub items: usize,
    /// What an update changes, with its values.
    pub change: Option<String>,
    /// The condition of a write, with its values.
    pub condition: Option<String>,
    /// What became of the part: `held` for a condition, or the reason why it failed.
    pub outcome: Option<String>,
}

/// Units of a table, or of an index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Units {
    pub table: String,
    pub index: Option<String>,
    pub read: f64,
    pub write: f64,
}

impl Call {
    /// A call of this service with one part, which nothing but its answer is known of.
    pub(crate) fn simple(
        service: &'static str,
        action: &str,
        on: &str,
        key: Option<&str>,
        error: Option<String>,
    ) -> Self {
        let part = Part {
            action: action.to_owned(),
            on: on.to_owned(),
            keys: key.map(|key| vec![key.to_owned()]).into_iter().collect(),
            items: usize::from(key.is_some()),
            ..Part::default()
        };
        Self {
            service,
            action: action.to_owned(),
            parts: vec![part],
            attempt: 1,
            consistent: None,
            status: None,
            error,
            fault: None,
            after_ms: 0.0,
            took_ms: 0.0,
            units: Vec::new(),
        }
    }

    /// A call that went through a fault proxy.
    pub(super) fn of(call: &fault_proxy::Call, service: &'static str, keys: &Keys) -> Self {
        let (request, answer) = (&call.request, &call.response);
        let mut parts = match service {
            "SQS" => messages(&call.action, request, answer),
            "EventBridge" => events(request, answer),
            _ => asked(&call.action, request, answer, keys),
        };
        parts.truncate(MOST);
        let exception = answer["__type"].as_str().map(|name| name.rsplit('#').next().unwrap_or_default().to_owned());
        Self {
            parts,
            consistent: consistent(&call.action, request),
            status: call.status,
            fault: call.fault.as_ref().map(|fault| shortened(format!("{fault:?}"))),
            units: call.consumed.iter().flat_map(units).collect(),
            error: exception,
            ..Self::simple(service, &call.action, "", None, None)
        }
    }

    /// The parts whose condition did not hold.
    pub fn refusals(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.outcome.as_deref() == Some(FAILED))
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn last(value: &Value) -> String {
    value.as_str().and_then(|name| name.rsplit(['/', ':']).next()).unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn units(consumed: &Consumed) -> Vec<Units> {
    let of = |index: Option<&String>, units: f64| {
        let (read, write) = if consumed.access == Access::Read { (units, 0.0) } else { (0.0, units) };
        Units { table: consumed.table.clone(), index: index.cloned(), read, write }
    };
    let indexes = consumed.index_units.iter().map(|(name, units)| of(Some(name), *units));
    std::iter::once(of(None, consumed.table_units)).chain(indexes).filter(|it| it.read + it.write > 0.0).collect()
}

fn consistent(action: &str, request: &Value) -> Option<bool> {
    match action {
        "GetItem" | "Query" | "Scan" => Some(request["ConsistentRead"] == true),
        "BatchGetItem" => {
            let mut tables = request["RequestItems"].as_object().into_iter().flat_map(Map::values);
            Some(tables.all(|part| part["ConsistentRead"] == true))
        }
        "TransactGetItems" => Some(true),
        _ => None,
    }
}

/// The key of an item, in a request or an answer, as texts.
pub(super) fn key_of(item: &Value, table: &str, keys: &Keys) -> Option<Vec<String>> {
    let names = keys.get(table)?;
    names.iter().map(|name| item[name].as_object()?.values().next()?.as_str().map(str::to_owned)).collect()
}

/// The parts of a call of DynamoDB.
fn asked(action: &str, request: &Value, answer: &Value, keys: &Keys) -> Vec<Part> {
    match action {
        "BatchGetItem" | "BatchWriteItem" => {
            let tables = request["RequestItems"].as_object().into_iter().flatten();
            tables.map(|(table, part)| batch(action, table, part, keys)).collect()
        }
        "TransactGetItems" | "TransactWriteItems" => {
            let reasons = list(&answer["CancellationReasons"]);
            let items = list(&request["TransactItems"]).iter().filter_map(Value::as_object).flatten();
            let parts = items.enumerate().map(|(at, (kind, part))| {
                let reason = reasons.get(at).and_then(|reason| reason["Code"].as_str()).filter(|code| *code != "None");
                single(kind, part, &Value::Null, reason, keys)
            });
            parts.collect()
        }
        _ => {
            let exception = answer["__type"].as_str().unwrap_or_default();
            let failed = exception.ends_with("ConditionalCheckFailedException").then_some(FAILED);
            vec![single(action, request, answer, failed, keys)]
        }
    }
}

fn batch(action: &str, table: &str, part: &Value, keys: &Keys) -> Part {
    let writes = list(part).iter().filter_map(Value::as_object).flat_map(Map::values);
    let writes = writes.flat_map(|write| ["Item", "Key"].map(|name| &write[name]));
    let items: Vec<_> = list(&part["Keys"]).iter().chain(writes.filter(|item| !item.is_null())).collect();
    Part {
        action: action.to_owned(),
        on: table.to_owned(),
        items: items.len(),
        keys: items.iter().take(MOST).filter_map(|item| key_of(item, table, keys)).collect(),
        ..Part::default()
    }
}

/// One item of a transaction, or a call about one table.
fn single(action: &str, request: &Value, answer: &Value, failed: Option<&str>, keys: &Keys) -> Part {
    let table = text(&request["TableName"]);
    let named = [&request["Key"], &request["Item"]].into_iter().filter(|item| !item.is_null());
    let items: Vec<_> = named.chain(list(&answer["Items"])).collect();
    let condition = expression_of(request, "ConditionExpression");
    // A call that was refused for another reason did not come to its condition.
    let held = condition.is_some() && answer["__type"].is_null();
    Part {
        action: action.to_owned(),
        index: request["IndexName"].as_str().map(str::to_owned),
        what: expression_of(request, "KeyConditionExpression"),
        filter: expression_of(request, "FilterExpression"),
        items: answer["Count"].as_u64().and_then(|count| count.try_into().ok()).unwrap_or(items.len()),
        keys: items.iter().take(MOST).filter_map(|item| key_of(item, &table, keys)).collect(),
        change: expression_of(request, "UpdateExpression").map(shortened),
        outcome: failed.or(held.then_some("held")).map(str::to_owned),
        condition,
        on: table,
    }
}

fn messages(action: &str, request: &Value, answer: &Value) -> Vec<Part> {
    let queue = last(&request["QueueUrl"]);
    let part = |entry: &Value, accepted: Option<&Value>, failed: Option<&Value>| Part {
        action: action.to_owned(),
        on: queue.clone(),
        what: entry["MessageBody"].as_str().map(|body| shortened(body.to_owned())),
        keys: accepted
            .and_then(|accepted| Some(vec![accepted["MessageId"].as_str()?.to_owned()]))
            .into_iter()
            .collect(),
        items: 1,
        outcome: failed.map(|failed| text(&failed["Code"])),
        ..Part::default()
    };
    if !action.ends_with("Batch") {
        return vec![part(request, Some(answer), None)];
    }
    let of = |list: &str| -> BTreeMap<&str, &Value> {
        let entries = answer[list].as_array().into_iter().flatten();
        entries.filter_map(|entry| Some((entry["Id"].as_str()?, entry))).collect()
    };
    let (accepted, failed) = (of("Successful"), of("Failed"));
    let parts = list(&request["Entries"]).iter().map(|entry| {
        let id = entry["Id"].as_str().unwrap_or_default();
        part(entry, accepted.get(id).copied(), failed.get(id).copied())
    });
    parts.collect()
}

fn events(request: &Value, answer: &Value) -> Vec<Part> {
    let parts = list(&request["Entries"]).iter().enumerate().map(|(at, entry)| {
        let answer = &answer["Entries"][at];
        Part {
            action: text(&entry["DetailType"]),
            on: last(&entry["EventBusName"]),
            what: entry["Detail"].as_str().map(|detail| shortened(detail.to_owned())),
            keys: answer["EventId"].as_str().map(|id| vec![id.to_owned()]).into_iter().collect(),
            items: 1,
            outcome: answer["ErrorCode"].as_str().map(str::to_owned),
            ..Part::default()
        }
    });
    parts.collect()
}

/// An attribute that a write has changed, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub name: String,
    pub from: Option<String>,
    pub to: Option<String>,
}

/// The attributes in which two images of an item differ.
pub(super) fn changed(old: &Value, new: &Value) -> Vec<Changed> {
    let names = [old, new].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
    let names: std::collections::BTreeSet<_> = names.collect();
    let differ = names.into_iter().filter(|name| old[*name] != new[*name]);
    let shown = |image: &Value, name: &str| image.get(name).map(value);
    differ.map(|name| Changed { name: name.clone(), from: shown(old, name), to: shown(new, name) }).take(MOST).collect()
}
