//! Calls that somebody with a function's credentials could make.

use key_schema::layout::Index;
use serde_json::{Value, json};

/// Builds a request for an item, or a partition, with each of these keys.
pub type Ask = fn(&str, &[String]) -> Value;

/// Every way to access items by key: the action that a role needs, the action that the client calls, and whether it is
/// a transaction.
pub const WAYS: [(&str, &str, bool, Ask); 13] = [
    ("Query", "Query", false, |table, keys| query(table, None, &keys[0])),
    ("GetItem", "GetItem", false, |table, keys| item(table, &keys[0])),
    ("PutItem", "PutItem", false, |table, keys| put(table, &keys[0])),
    ("UpdateItem", "UpdateItem", false, |table, keys| item(table, &keys[0])),
    ("DeleteItem", "DeleteItem", false, |table, keys| item(table, &keys[0])),
    ("GetItem", "TransactGetItems", true, |table, keys| transaction("Get", table, keys)),
    ("PutItem", "TransactWriteItems", true, |table, keys| {
        let puts = keys.iter().map(|key| json!({ "Put": put(table, key) }));
        json!({ "TransactItems": puts.collect::<Vec<_>>() })
    }),
    ("UpdateItem", "TransactWriteItems", true, |table, keys| transaction("Update", table, keys)),
    ("DeleteItem", "TransactWriteItems", true, |table, keys| transaction("Delete", table, keys)),
    ("ConditionCheckItem", "TransactWriteItems", true, |table, keys| transaction("ConditionCheck", table, keys)),
    ("BatchGetItem", "BatchGetItem", false, batch),
    ("BatchWriteItem", "BatchWriteItem", false, |table, keys| {
        let writes = keys.iter().map(|key| json!({ "PutRequest": { "Item": put(table, key)["Item"] } }));
        json!({ "RequestItems": { table: writes.collect::<Vec<_>>() } })
    }),
    ("BatchGetItem", "BatchGetItem", false, |table, keys| {
        let mut batch = batch(table, keys);
        batch["RequestItems"][table]["ProjectionExpression"] = json!("PK, SK");
        batch
    }),
];

pub fn item(table: &str, key: &str) -> Value {
    json!({ "TableName": table, "Key": { "PK": { "S": key }, "SK": { "S": key } } })
}

pub fn put(table: &str, key: &str) -> Value {
    json!({ "TableName": table, "Item": { "PK": { "S": key }, "SK": { "S": key }, "GSI1PK": { "S": key } } })
}

fn transaction(kind: &str, table: &str, keys: &[String]) -> Value {
    json!({ "TransactItems": keys.iter().map(|key| json!({ kind: item(table, key) })).collect::<Vec<_>>() })
}

fn batch(table: &str, keys: &[String]) -> Value {
    let keys: Vec<_> = keys.iter().map(|key| item(table, key)["Key"].clone()).collect();
    json!({ "RequestItems": { table: { "Keys": keys } } })
}

/// Whether the request reads keys and no other attribute.
pub fn is_of_keys(request: &Value, table: &str) -> bool {
    request["RequestItems"][table]["ProjectionExpression"] == "PK, SK"
}

pub fn query(table: &str, index: Option<&str>, key: &str) -> Value {
    let mut query = json!({
        "TableName": table, "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": { "#pk": index.map_or("PK".to_owned(), |index| format!("{index}PK")) },
        "ExpressionAttributeValues": { ":pk": { "S": key } },
    });
    if let Some(index) = index {
        query["IndexName"] = json!(index);
    }
    query
}

/// Calls without a key, which no function needs.
pub fn sweeping(table: &str) -> Vec<(&'static str, Value)> {
    let named = json!({ "TableName": table });
    let index = |index: Index| json!({ "TableName": table, "IndexName": index.name().expect("an index") });
    let by = |verb: &str| json!({ "Statement": format!("{verb} \"{table}\" WHERE PK = 'o#1'") });
    vec![
        ("Scan", named.clone()),
        ("Scan", index(Index::Gsi1)),
        ("Scan", index(Index::Gsi2)),
        ("Query", named.clone()),
        ("Query", index(Index::Gsi1)),
        ("ExecuteStatement", by("SELECT * FROM")),
        ("ExecuteStatement", by("DELETE FROM")),
        ("BatchExecuteStatement", json!({ "Statements": [by("SELECT * FROM")] })),
        ("ExecuteTransaction", json!({ "TransactStatements": [by("DELETE FROM")] })),
        ("DeleteTable", named.clone()),
        ("UpdateTable", named.clone()),
        ("DescribeTable", named.clone()),
        ("UpdateTimeToLive", named.clone()),
        ("ListTables", json!({})),
    ]
}
