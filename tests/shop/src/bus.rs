//! Test access to the table's stream and the bus.

use std::collections::BTreeMap;

use devstack::gateway::Invoke;
use fastrand::Rng;
use serde_json::{Value, json};

use crate::Shop;
use crate::openapi;
use crate::stream::lambda_record;

/// The identity of a change: the event's type, the order's id, and the order's version after the change.
pub type Change = (String, String, u64);

/// All records of the table's stream, in Lambda's format.
pub async fn records(shop: &Shop) -> Vec<Value> {
    let table = shop.dynamodb("DescribeTable", &json!({ "TableName": shop.table() })).await;
    let stream = json!({ "StreamArn": table["Table"]["LatestStreamArn"] });
    let shards = streams(shop, "DescribeStream", stream.clone()).await["StreamDescription"]["Shards"].clone();
    let mut records = Vec::new();
    for shard in shards.as_array().expect("shards") {
        let mut request = stream.clone();
        request["ShardId"] = shard["ShardId"].clone();
        request["ShardIteratorType"] = json!("TRIM_HORIZON");
        let mut iterator = streams(shop, "GetShardIterator", request).await["ShardIterator"].clone();
        while !iterator.is_null() {
            let answer = streams(shop, "GetRecords", json!({ "ShardIterator": iterator })).await;
            let page = answer["Records"].as_array().expect("records");
            if page.is_empty() {
                break;
            }
            records.extend(page.iter().map(lambda_record));
            iterator = answer["NextShardIterator"].clone();
        }
    }
    records
}

/// The sequence number from which the batch has to be retried.
pub fn checkpoint(answer: &Value) -> Option<&Value> {
    let failures = answer["batchItemFailures"].as_array().expect("failures");
    assert!(failures.len() <= 1, "{answer}");
    failures.first().map(|failure| &failure["itemIdentifier"])
}

/// Delivers the records in batches of random size, as Lambda does: with retries from the first failure, and with
/// occasional duplicates.
pub async fn deliver(publish: &Invoke, records: &[Value], random: &mut Rng) {
    let mut next = 0;
    for _ in 0..1000 {
        if next == records.len() {
            return;
        }
        let batch = &records[next..records.len().min(next + random.usize(1..=40))];
        let answer = publish(json!({ "Records": batch })).await.expect("an answer");
        next += match checkpoint(&answer) {
            Some(failed) => {
                let position = batch.iter().position(|record| record["dynamodb"]["SequenceNumber"] == *failed);
                position.expect("it is of this batch")
            }
            None if random.u8(..) < 50 => 0,
            None => batch.len(),
        };
    }
    panic!("the end of the stream is never reached");
}

/// The changes of orders that the bus received, each once, in the order of first appearance.
pub fn told(shop: &Shop) -> Vec<Change> {
    let (mut details, mut told) = (BTreeMap::new(), Vec::new());
    for event in shop.bus().events() {
        openapi::check_event(&event);
        if event["source"] != "till.orders" {
            continue;
        }
        let (kind, detail) = (text(&event["detail-type"]), event["detail"].clone());
        let version = detail["version"].as_u64().unwrap_or(match kind.as_str() {
            "OrderPlaced" => 1,
            "PaymentCaptured" => 2,
            _ => 3,
        });
        let change = (kind, text(&detail["orderId"]), version);
        // Duplicates are equal, and ids are unique otherwise.
        let known = details.entry(text(&detail["id"])).or_insert_with(|| {
            told.push(change.clone());
            (change.clone(), event["time"].clone(), detail.clone())
        });
        assert_eq!(*known, (change, event["time"].clone(), detail));
    }
    told
}

pub fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

async fn streams(shop: &Shop, action: &str, request: Value) -> Value {
    shop.dynamodb_streams(action, &request).await
}
