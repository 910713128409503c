//! A shop's stream, in the hands of a test.

use local::StartConsumer;
use local::functions::start_all;
use local::gateway::Invoke;
use serde_json::{Value, json};

use crate::shop::Shop;

/// The records of the stream, one after the other.
#[derive(Default)]
pub struct Tail {
    iterator: Option<String>,
}

impl Tail {
    /// The records that are new since the last time of asking, of all kinds of items.
    pub async fn new_records(&mut self, shop: &Shop) -> Vec<Value> {
        let mut iterator = match self.iterator.take() {
            Some(iterator) => iterator,
            None => beginning(shop).await,
        };
        let mut records = Vec::new();
        loop {
            let answer = shop.dynamodb_streams("GetRecords", &json!({ "ShardIterator": iterator })).await;
            answer["NextShardIterator"].as_str().expect("an open shard").clone_into(&mut iterator);
            match answer["Records"].as_array().filter(|records| !records.is_empty()) {
                Some(found) => records.extend(found.iter().cloned()),
                None => break,
            }
        }
        self.iterator = Some(iterator);
        records
    }
}

async fn beginning(shop: &Shop) -> String {
    let table = shop.dynamodb("DescribeTable", &json!({ "TableName": shop.table() })).await;
    let stream = &table["Table"]["LatestStreamArn"];
    let described = shop.dynamodb_streams("DescribeStream", &json!({ "StreamArn": stream })).await;
    let shards = described["StreamDescription"]["Shards"].as_array().expect("shards");
    assert_eq!(shards.len(), 1, "the engine's streams have one shard");
    let ask = json!({ "StreamArn": stream, "ShardId": shards[0]["ShardId"], "ShardIteratorType": "TRIM_HORIZON" });
    let answer = shop.dynamodb_streams("GetShardIterator", &ask).await;
    answer["ShardIterator"].as_str().expect("an iterator").to_owned()
}

/// Whether the event source of the template would pass the record on.
pub fn is_wanted(record: &Value) -> bool {
    let kind = &record["dynamodb"]["NewImage"]["EntityType"]["S"];
    (kind == "order" && record["eventName"] != "REMOVE") || (kind == "orderItem" && record["eventName"] == "INSERT")
}

/// The number of a record.
pub fn number(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().expect("a number")
}

/// The record as Lambda passes it on.
pub fn lambda_record(record: &Value) -> Value {
    let mut record = record.clone();
    record["awsRegion"] = json!("us-east-1");
    if record["eventName"] == "REMOVE" {
        record["userIdentity"] = json!({ "type": "Service", "principalId": "dynamodb.amazonaws.com" });
    }
    record
}

/// Lambda's event of a batch, in a window.
pub fn batch(shard: &str, records: &[Value], state: &Value) -> Value {
    json!({
        "Records": records, "shardId": shard, "state": state, "isFinalInvokeForWindow": records.is_empty(),
        "isWindowTerminatedEarly": false, "eventSourceARN": "arn:aws:dynamodb:eu-west-1:123456789012:table/till/stream/label",
        "window": { "start": "2026-11-21T09:30:00Z", "end": "2026-11-21T09:45:00Z" },
    })
}

impl Shop {
    /// What counts the orders: each start is an environment of its own.
    pub fn counters(&self) -> StartConsumer {
        let functions = start_all(&self.endpoints(), self.template()).expect("the functions start");
        functions.consumers.into_iter().find(|(name, _)| name == "count-orders").expect("the counter").1
    }

    /// What counts the orders, in an environment of its own.
    pub fn counter(&self) -> Invoke {
        self.counters()().expect("the counter starts")
    }

    /// Counts these records as those of a shard of their own.
    pub async fn count(&self, shard: &str, records: &[Value]) -> Value {
        self.counter()(batch(shard, records, &json!({}))).await.expect("an answer")
    }
}
