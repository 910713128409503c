//! Test access to a shop's stream.

use devstack::StartConsumer;
use devstack::gateway::Invoke;
use serde_json::{Value, json};

use crate::Shop;

/// A reader of the stream that continues where it stopped.
#[derive(Default)]
pub struct Tail {
    iterator: Option<String>,
}

impl Tail {
    /// The new records since this was last called, of all kinds of items.
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

/// Whether the template's event source would deliver the record.
pub fn is_wanted(record: &Value) -> bool {
    let kind = &record["dynamodb"]["NewImage"]["EntityType"]["S"];
    (kind == "order" && record["eventName"] != "REMOVE") || (kind == "orderItem" && record["eventName"] == "INSERT")
}

pub fn number(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().expect("a number")
}

pub fn lambda_record(record: &Value) -> Value {
    let mut record = record.clone();
    record["awsRegion"] = json!("us-east-1");
    if record["eventName"] == "REMOVE" {
        record["userIdentity"] = json!({ "type": "Service", "principalId": "dynamodb.amazonaws.com" });
    }
    record
}

/// Lambda's event for a batch in a tumbling window.
pub fn batch(shard: &str, records: &[Value], state: &Value) -> Value {
    json!({
        "Records": records, "shardId": shard, "state": state, "isFinalInvokeForWindow": records.is_empty(),
        "isWindowTerminatedEarly": false, "eventSourceARN": "arn:aws:dynamodb:eu-west-1:123456789012:table/till/stream/label",
        "window": { "start": "2026-11-21T09:30:00Z", "end": "2026-11-21T09:45:00Z" },
    })
}

impl Shop {
    /// The consumer `count-orders`. Each start creates a new execution environment.
    pub fn counters(&self) -> StartConsumer {
        self.starter("count-orders", &self.endpoints())
    }

    /// Starts `count-orders` in a new execution environment.
    pub fn counter(&self) -> Invoke {
        self.counters()().expect("the counter starts")
    }

    pub async fn count(&self, shard: &str, records: &[Value]) -> Value {
        self.counter()(batch(shard, records, &json!({}))).await.expect("an answer")
    }
}
