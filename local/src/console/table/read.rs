//! The one request of a page, and what it found.

use devstack::Service;
use key_schema::layout::{Index, Key, SortRange};
use serde_json::{Map, Value, json};

/// A request that is not sent yet.
pub(super) struct Reading {
    action: &'static str,
    request: Value,
}

/// Why a request found nothing.
pub(super) enum Failure {
    Refused(String),
    Unreachable(String),
}

/// The items that a request read, and what that cost.
pub(super) struct Found {
    pub(super) action: &'static str,
    pub(super) request: Value,
    /// The items as plain JSON, in the order of the answer.
    pub(super) items: Vec<Map<String, Value>>,
    /// The number of items that DynamoDB read.
    pub(super) read: usize,
    /// The read units.
    pub(super) units: f64,
    /// The key at which the request stopped, if more items may follow.
    pub(super) next: Option<Value>,
}

impl Reading {
    /// The next items of the whole table or index.
    pub(super) fn scan(table: &str, index: Index, most: usize) -> Self {
        let request = json!({ "TableName": table, "Limit": most });
        Self { action: "Scan", request }.of_index(index)
    }

    /// Items of one partition, by the Query that a function sends for this range.
    pub(super) fn query(
        table: &str,
        index: Index,
        partition: &str,
        range: &SortRange,
        is_descending: bool,
        is_strong: bool,
        most: Option<usize>,
    ) -> Self {
        let (partition_key, sort_key) = index.attributes();
        let (of_sort, values) = range.condition();
        let mut request = json!({
            "TableName": table,
            "KeyConditionExpression": "#partition = :partition",
            "ExpressionAttributeNames": { "#partition": partition_key },
            "ExpressionAttributeValues": { ":partition": { "S": partition } },
            "ScanIndexForward": !is_descending,
            "ConsistentRead": is_strong,
        });
        if !of_sort.is_empty() {
            request["KeyConditionExpression"] = json!(format!("#partition = :partition AND {of_sort}"));
            request["ExpressionAttributeNames"]["#sort"] = json!(sort_key);
        }
        for (name, value) in values {
            request["ExpressionAttributeValues"][name] = json!({ "S": value });
        }
        if let Some(most) = most {
            request["Limit"] = json!(most);
        }
        Self { action: "Query", request }.of_index(index)
    }

    /// The items with these keys.
    pub(super) fn batch(table: &str, keys: &[Key], is_strong: bool) -> Self {
        let keys: Vec<_> = keys
            .iter()
            .map(|key| {
                let (partition, sort) = key.index.attributes();
                json!({ partition: { "S": key.partition }, sort: { "S": key.sort } })
            })
            .collect();
        let request = json!({ "RequestItems": { table: { "Keys": keys, "ConsistentRead": is_strong } } });
        Self { action: "BatchGetItem", request }
    }

    fn of_index(mut self, index: Index) -> Self {
        if let Some(name) = index.name() {
            self.request["IndexName"] = json!(name);
        }
        self
    }

    /// The same from this key on.
    pub(super) fn after(mut self, key: Option<Value>) -> Self {
        if let Some(key) = key {
            self.request["ExclusiveStartKey"] = key;
        }
        self
    }

    pub(super) async fn send(mut self, dynamodb: &Service) -> Result<Found, Failure> {
        self.request["ReturnConsumedCapacity"] = json!("TOTAL");
        let answer = dynamodb.call(self.action, &self.request).await;
        let answer = answer.map_err(|error| Failure::Unreachable(format!("{error:#}")))?;
        let mut answer =
            answer.map_err(|refusal| Failure::Refused(format!("{:#}", refusal.into_error(self.action))))?;
        let consumed = &answer["ConsumedCapacity"];
        let units = consumed.as_array().map_or(std::slice::from_ref(consumed), Vec::as_slice).iter();
        let units = units.filter_map(|consumed| consumed["CapacityUnits"].as_f64()).sum();
        let items = match answer["Items"].take() {
            Value::Array(items) => items,
            _ => answer["Responses"]
                .as_object_mut()
                .into_iter()
                .flatten()
                .flat_map(|(_, items)| items.as_array_mut().map(std::mem::take).unwrap_or_default())
                .collect(),
        };
        let items: Vec<_> = items.into_iter().filter_map(plain).collect();
        let read = answer["ScannedCount"].as_u64().and_then(|read| read.try_into().ok()).unwrap_or(items.len());
        let next = Some(answer["LastEvaluatedKey"].take()).filter(Value::is_object);
        Ok(Found { action: self.action, request: self.request, items, read, units, next })
    }
}

/// An item in DynamoDB's JSON as plain JSON.
pub(in crate::console) fn plain(item: Value) -> Option<Map<String, Value>> {
    let item: serde_dynamo::Item = serde_json::from_value(item).ok()?;
    serde_dynamo::from_item(item).ok()
}
