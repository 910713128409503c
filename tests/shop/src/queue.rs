//! Test access to a shop's queue.

use devstack::Template;
use devstack::gateway::Invoke;
use devstack::template::QueueSource;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{Client, Reply, Shop, until_some};

pub const QUEUE: &str = "till-local-write-queue";
pub const DEAD_LETTERS: &str = "till-local-dead-letters";

pub fn url(queue: &str) -> String {
    format!("https://sqs.us-east-1.amazonaws.com/000000000000/{queue}")
}

/// Places an order with `Prefer: respond-async`.
pub async fn order_later(client: &Client, key: &str, body: Value) -> Reply {
    let headers = [("idempotency-key", key), ("prefer", "respond-async")];
    client.send(Method::POST, "/orders", &headers, Some(body.to_string())).await
}

/// The order at this path, as soon as it no longer waits.
pub async fn no_longer_queued(client: &Client, path: &str) -> Value {
    let look = async || Some(client.get(path).await.expect(200)).filter(|order| order["status"] != "QUEUED");
    until_some(format!("{path} no longer waits"), look).await
}

pub fn drain_source(template: &mut Template) -> &mut QueueSource {
    template.queue_sources.iter_mut().find(|source| source.function == "DrainWrites").expect("the drain has a source")
}

impl Shop {
    /// Calls SQS itself.
    pub async fn sqs(&self, action: &str, queue: &str, mut request: Value) -> Value {
        request["QueueUrl"] = json!(url(queue));
        self.call_sqs(action, &request).await
    }

    /// The number of messages of a queue: visible, in flight and delayed.
    pub async fn messages_in(&self, queue: &str) -> u64 {
        let answer = self.http.get(format!("{}/_local/queues", self.url())).send().await.expect("an answer");
        let counts: Value = answer.json().await.expect("JSON");
        ["visible", "inFlight", "delayed"].iter().map(|kind| counts[queue][kind].as_u64().expect("a count")).sum()
    }

    /// The number of queued orders.
    pub async fn queued(&self) -> u64 {
        self.messages_in(QUEUE).await
    }

    /// Receives and deletes every visible message of a queue, as records of Lambda's event.
    pub async fn take_from(&self, queue: &str) -> Vec<Value> {
        let mut records = Vec::new();
        loop {
            let ask = json!({
                "MaxNumberOfMessages": 10, "VisibilityTimeout": 600, "MessageAttributeNames": ["All"],
                "MessageSystemAttributeNames": ["All"],
            });
            let answer = self.sqs("ReceiveMessage", queue, ask).await;
            let Some(messages) = answer["Messages"].as_array().filter(|messages| !messages.is_empty()) else {
                return records;
            };
            for message in messages {
                self.sqs("DeleteMessage", queue, json!({ "ReceiptHandle": message["ReceiptHandle"] })).await;
                records.push(record(message));
            }
        }
    }

    /// Receives and deletes every queued order, as records of Lambda's event.
    pub async fn take_messages(&self) -> Vec<Value> {
        self.take_from(QUEUE).await
    }

    /// Starts the drain in a new execution environment.
    pub fn drainer(&self) -> Invoke {
        self.consumer("drain-writes", &self.endpoints())
    }

    pub async fn drain(&self, records: &[Value]) -> Value {
        self.drainer()(json!({ "Records": records })).await.expect("an answer")
    }
}

/// Converts a message of SQS to Lambda's format.
fn record(message: &Value) -> Value {
    let attributes = message["MessageAttributes"].as_object().cloned().unwrap_or_default();
    let attributes = attributes
        .into_iter()
        .map(|(name, value)| (name, json!({ "stringValue": value["StringValue"], "dataType": value["DataType"] })));
    json!({
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": attributes.collect::<serde_json::Map<_, _>>(),
        "eventSource": "aws:sqs",
    })
}
