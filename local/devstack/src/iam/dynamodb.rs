//! AWS's authorisation of calls of DynamoDB.
//!
//! - A transaction is not an action of its own: each item is authorised as the corresponding single action, or as
//!   `ConditionCheckItem`, with the transaction in `dynamodb:EnclosingOperation` ([source][transactions], whose second
//!   example also has the key for `ConditionCheckItem`; the Service Authorization Reference does not list it there).
//! - `BatchGetItem` and `BatchWriteItem` are actions of their own, on each table, with the partition keys of all items.
//! - A Query or Scan of an index is about `table/NAME/index/INDEX`, and `dynamodb:LeadingKeys` of such a Query is the
//!   partition key of the index ([source][conditions]). A Scan has no leading keys, so `ForAllValues` alone would allow
//!   it.
//! - `PartiQL` is not known here, and no policy grants it.
//! - `dynamodb:ReturnValues` also covers `ReturnValuesOnConditionCheckFailure`. That is the only such parameter of a
//!   `ConditionCheckItem`, for which the Reference lists the key.
//! - `dynamodb:Select` always has a value for a read, and `dynamodb:Attributes` has the names in all expressions; of a
//!   document path it has the attribute ([source][conditions]). A read of all attributes names none, so a statement that
//!   withholds attributes also needs `dynamodb:Select`.
//! - A shard iterator names its stream: on AWS by its ARN, in the embedded engine by its table. An iterator of another
//!   engine is opaque, so the caller must be allowed to read the stream of every table.
//!
//! [transactions]: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
//! [conditions]: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use super::ask::{ATTRIBUTES, Ask, ENCLOSING_OPERATION, LEADING_KEYS, RETURN_CONSUMED_CAPACITY, RETURN_VALUES, SELECT};
use super::expression;
use crate::resource::{stream_arn, table_arn};
use crate::template::Table;

/// The parameters that contain attribute names.
const EXPRESSIONS: [&str; 5] =
    ["ConditionExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression", "UpdateExpression"];

/// The keys of the template's tables.
pub(super) struct Schema {
    tables: Vec<Keys>,
}

struct Keys {
    table: String,
    partition_key: String,
    /// The partition key of each index, by the index's name.
    indexes: Vec<(String, String)>,
}

impl Schema {
    pub(super) fn new(tables: &[Table]) -> Self {
        Self { tables: tables.iter().map(|table| Keys::new(&table.creation)).collect() }
    }

    /// The authorisation requests of this call. Empty if the call names no item; such a call has no effect.
    pub(super) fn asks(&self, action: &str, request: &Value) -> Vec<Ask> {
        match action {
            "BatchGetItem" => self.batches(action, request, |wanted| list(&wanted["Keys"]).iter().collect()),
            "BatchWriteItem" => self.batches(action, request, |writes| {
                let items = list(writes).iter().filter_map(Value::as_object).flat_map(Map::values);
                items
                    .flat_map(|write| ["Item", "Key"].map(|name| &write[name]))
                    .filter(|item| !item.is_null())
                    .collect()
            }),
            "TransactGetItems" | "TransactWriteItems" => self.transaction(action, request),
            _ => vec![self.single(action, request)],
        }
    }

    /// The authorisation requests of a call of a table's stream.
    pub(super) fn stream_asks(&self, action: &str, request: &Value) -> Vec<Ask> {
        if action == "ListStreams" {
            let table = request["TableName"].as_str().unwrap_or("*");
            return vec![Ask::new("dynamodb", action, format!("{}/stream/*", table_arn(table)))];
        }
        let ask = |table: &str| Ask::new("dynamodb", action, stream_arn(table));
        let named = request["StreamArn"].as_str().and_then(|arn| table_in(arn).map(str::to_owned));
        match named.or_else(|| table_of_iterator(request["ShardIterator"].as_str()?)) {
            Some(table) => vec![ask(&table)],
            None => self.tables.iter().map(|keys| ask(&keys.table)).collect(),
        }
    }

    /// The keys of the table that a request names by its name or its ARN. A table of others is taken to have those of
    /// the first.
    fn keys_of(&self, table: &str) -> &Keys {
        const NONE: &Keys = &Keys { table: String::new(), partition_key: String::new(), indexes: Vec::new() };
        let name = table.rsplit_once(":table/").map_or(table, |(_, name)| name);
        self.tables.iter().find(|keys| keys.table == name).or(self.tables.first()).unwrap_or(NONE)
    }

    fn single(&self, action: &str, request: &Value) -> Ask {
        let (table, index) = (request["TableName"].as_str().unwrap_or("*"), request["IndexName"].as_str());
        let schema = self.keys_of(table);
        let resource = index.map_or_else(|| arn(table), |index| format!("{}/index/{index}", arn(table)));
        let demanded = schema.partition_key(index).and_then(|attribute| expression::demanded(request, attribute));
        let items = [&request["Item"], &request["Key"]];
        let keys = items.into_iter().filter_map(|item| schema.partition_of(item)).chain(demanded);
        let returned =
            ["ReturnValues", "ReturnValuesOnConditionCheckFailure"].iter().find_map(|name| word(request, name));
        Ask::new("dynamodb", action, resource)
            .with(LEADING_KEYS, keys)
            .with(ATTRIBUTES, attributes(request, &items))
            .with(SELECT, selected(action, request))
            .with(RETURN_VALUES, returned)
            .with(RETURN_CONSUMED_CAPACITY, word(request, "ReturnConsumedCapacity"))
    }

    fn batches<'r>(&self, action: &str, request: &'r Value, items: impl Fn(&'r Value) -> Vec<&'r Value>) -> Vec<Ask> {
        let tables = request["RequestItems"].as_object().into_iter().flatten();
        let asks = tables.map(|(table, part)| {
            let (items, schema) = (items(part), self.keys_of(table));
            Ask::new("dynamodb", action, arn(table))
                .with(LEADING_KEYS, items.iter().filter_map(|item| schema.partition_of(item)))
                .with(ATTRIBUTES, attributes(part, &items))
                .with(SELECT, selected(action, part))
                .with(RETURN_CONSUMED_CAPACITY, word(request, "ReturnConsumedCapacity"))
        });
        asks.collect()
    }

    fn transaction(&self, action: &str, request: &Value) -> Vec<Ask> {
        let items = list(&request["TransactItems"]).iter().filter_map(Value::as_object).flatten();
        let asks = items.map(|(kind, part)| {
            let ask = self.single(&format!("{kind}Item"), part);
            let ask = ask.with(RETURN_CONSUMED_CAPACITY, word(request, "ReturnConsumedCapacity"));
            ask.with(ENCLOSING_OPERATION, [action.to_owned()])
        });
        asks.collect()
    }
}

impl Keys {
    /// From the body of the `CreateTable` request.
    fn new(table: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let hash = |owner: &Value| {
            let keys = owner["KeySchema"].as_array().into_iter().flatten();
            let mut hashes = keys.filter(|key| key["KeyType"] == "HASH").map(|key| text(&key["AttributeName"]));
            hashes.next().unwrap_or_default()
        };
        let indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
        Self {
            table: text(&table["TableName"]),
            partition_key: hash(table),
            indexes: indexes.map(|index| (text(&index["IndexName"]), hash(index))).collect(),
        }
    }

    /// The partition key of the table or of this index. `None` if there is no such index.
    fn partition_key(&self, index: Option<&str>) -> Option<&str> {
        let Some(index) = index else { return Some(&self.partition_key) };
        self.indexes.iter().find(|(name, _)| name == index).map(|(_, partition_key)| partition_key.as_str())
    }

    fn partition_of(&self, item: &Value) -> Option<String> {
        expression::text(&item[self.partition_key.as_str()])
    }
}

/// The value of `Select`, which every read has: all attributes, unless the request says otherwise.
fn selected(action: &str, request: &Value) -> Option<String> {
    if !["BatchGetItem", "GetItem", "Query", "Scan"].contains(&action) {
        return None;
    }
    let is_of_some = ["ProjectionExpression", "AttributesToGet"].iter().any(|name| !request[*name].is_null());
    let otherwise = match (is_of_some, request["IndexName"].is_string()) {
        (true, _) => "SPECIFIC_ATTRIBUTES",
        (false, true) => "ALL_PROJECTED_ATTRIBUTES",
        (false, false) => "ALL_ATTRIBUTES",
    };
    word(request, "Select").or_else(|| Some(otherwise.to_owned()))
}

fn attributes(request: &Value, items: &[&Value]) -> Vec<String> {
    let whole = items.iter().filter_map(|item| item.as_object()).flat_map(Map::keys).cloned();
    let listed = list(&request["AttributesToGet"]).iter().filter_map(Value::as_str).map(str::to_owned);
    let expressions = EXPRESSIONS.iter().filter_map(|name| request[*name].as_str());
    let named = expressions.flat_map(|text| expression::attributes(request, text));
    let mut all: Vec<_> = whole.chain(listed).chain(named).collect();
    all.sort();
    all.dedup();
    all
}

fn arn(table: &str) -> String {
    if table.starts_with("arn:") { table.to_owned() } else { table_arn(table) }
}

fn table_in(stream: &str) -> Option<&str> {
    stream.split_once(":table/")?.1.split('/').next()
}

/// The name of the table whose stream this shard iterator reads, unless the iterator is opaque.
fn table_of_iterator(iterator: &str) -> Option<String> {
    if let Some(table) = table_in(iterator) {
        return Some(table.to_owned());
    }
    let decoded: Value = serde_json::from_slice(&BASE64_STANDARD.decode(iterator).ok()?).ok()?;
    word(&decoded, "table_name")
}

fn word(request: &Value, name: &str) -> Option<String> {
    request[name].as_str().map(str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
