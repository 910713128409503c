//! A simulated SQS, with one queue.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

/// The time for which a received message is hidden, as in the template.
const VISIBILITY_TIMEOUT: Duration = Duration::from_mins(6);

/// The messages by the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<Messages>);

#[derive(Debug, Default)]
struct Messages {
    sent: u64,
    kept: BTreeMap<u64, Message>,
}

#[derive(Debug)]
struct Message {
    body: Value,
    attributes: Value,
    visible_at: Instant,
    receives: u32,
}

impl Queue {
    /// The number of messages.
    pub(super) fn len(&self) -> usize {
        self.messages().kept.len()
    }

    /// Answers a request of the SDK. `None`: the simulation lacks this action.
    pub(super) fn answer(&self, action: &str, request: &Value) -> Option<Value> {
        let mut messages = self.messages();
        Some(match action {
            "GetQueueAttributes" => json!({ "Attributes": {
                "ApproximateNumberOfMessages": messages.kept.len().to_string(),
                "ApproximateNumberOfMessagesDelayed": "0", "ApproximateNumberOfMessagesNotVisible": "0",
            } }),
            "SendMessage" => {
                messages.sent += 1;
                let (id, delay) = (messages.sent, request["DelaySeconds"].as_u64().unwrap_or_default());
                let message = Message {
                    body: request["MessageBody"].clone(),
                    attributes: request["MessageAttributes"].clone(),
                    visible_at: Instant::now() + Duration::from_secs(delay),
                    receives: 0,
                };
                messages.kept.insert(id, message);
                json!({ "MessageId": id.to_string() })
            }
            "ChangeMessageVisibilityBatch" => {
                for entry in request["Entries"].as_array().into_iter().flatten() {
                    let hidden = Duration::from_secs(entry["VisibilityTimeout"].as_u64().unwrap_or_default());
                    let message = id_of(&entry["ReceiptHandle"]).and_then(|id| messages.kept.get_mut(&id));
                    if let Some(message) = message {
                        message.visible_at = Instant::now() + hidden;
                    }
                }
                json!({ "Successful": [], "Failed": [] })
            }
            _ => return None,
        })
    }

    /// Receives up to ten messages, as the records of Lambda's event.
    pub(super) fn receive(&self) -> Vec<Value> {
        let now = Instant::now();
        let mut messages = self.messages();
        let visible = messages.kept.iter_mut().filter(|(_, message)| message.visible_at <= now).take(10);
        let records = visible.map(|(id, message)| {
            message.visible_at = now + VISIBILITY_TIMEOUT;
            message.receives += 1;
            let attributes = message.attributes.as_object().into_iter().flatten().map(|(name, attribute)| {
                let value = json!({ "dataType": attribute["DataType"], "stringValue": attribute["StringValue"] });
                (name.clone(), value)
            });
            json!({
                "messageId": id.to_string(), "receiptHandle": id.to_string(), "body": message.body,
                "attributes": { "ApproximateReceiveCount": message.receives.to_string() },
                "messageAttributes": attributes.collect::<serde_json::Map<_, _>>(),
            })
        });
        records.collect()
    }

    /// Deletes these records' messages, unless the function's answer names them as failed.
    pub(super) fn delete(&self, records: &[Value], answer: &Value) {
        let failed: Vec<_> =
            answer["batchItemFailures"].as_array().into_iter().flatten().map(|one| &one["itemIdentifier"]).collect();
        let mut messages = self.messages();
        for record in records.iter().filter(|record| !failed.contains(&&record["messageId"])) {
            id_of(&record["messageId"]).and_then(|id| messages.kept.remove(&id));
        }
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id_of(text: &Value) -> Option<u64> {
    text.as_str()?.parse().ok()
}
