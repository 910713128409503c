mod delivery;
mod failures;
mod shards;
mod windows;

use serde_json::{Value, json};

use crate::aws_json::Service;
use crate::test_stack::{Bench, Call};
use crate::wait::PATIENCE;

/// Helpers for tests of the stream.
impl Bench {
    /// Writes items with these keys in one call.
    async fn put(&self, keys: &[&str]) {
        let puts = keys.iter().map(|key| json!({ "PutRequest": { "Item": item(key, key) } }));
        let request = json!({ "RequestItems": { self.stack.template().table_name(): puts.collect::<Vec<_>>() } });
        self.write("BatchWriteItem", &request).await;
    }

    async fn put_value(&self, key: &str, value: &str) {
        let table = self.stack.template().table_name();
        self.write("PutItem", &json!({ "TableName": table, "Item": item(key, value) })).await;
    }

    async fn write(&self, action: &str, request: &Value) {
        Service::dynamodb(self.stack.dynamodb_url()).unwrap().succeed(action, request).await.unwrap();
    }

    /// The calls, once everything that was written has been delivered.
    async fn settled(&self) -> Vec<Call> {
        self.stack.settle(PATIENCE).await.unwrap();
        self.calls()
    }

    /// The keys of every call's records, once everything has been delivered.
    async fn batches(&self) -> Vec<String> {
        self.settled().await.iter().map(Call::keys).collect()
    }

    /// The messages of the source's on-failure queue, oldest first.
    async fn given_up(&self) -> Vec<Value> {
        let messages = self.sqs.receive("given-up", 10, 0).await.unwrap();
        messages.iter().map(|message| serde_json::from_str(message["Body"].as_str().unwrap()).unwrap()).collect()
    }
}

impl Call {
    /// The keys of the call's records, as one text.
    fn keys(&self) -> String {
        let records = self.event["Records"].as_array().unwrap();
        let keys: Vec<_> =
            records.iter().map(|record| record["dynamodb"]["Keys"]["PK"]["S"].as_str().unwrap()).collect();
        keys.join(" ")
    }

    /// An answer that reports the record with this key as failed, if it is in the batch.
    fn failing_at(&self, key: &str) -> Value {
        let records = self.event["Records"].as_array().unwrap().iter();
        let failed = records.filter(|record| record["dynamodb"]["Keys"]["PK"]["S"] == key);
        let failed = failed.map(|record| json!({ "itemIdentifier": record["dynamodb"]["SequenceNumber"] }));
        json!({ "batchItemFailures": failed.collect::<Vec<_>>() })
    }
}

fn item(key: &str, value: &str) -> Value {
    json!({ "PK": { "S": key }, "value": { "S": value } })
}
