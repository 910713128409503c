//! SQS as an event source, as on Lambda: long polling, batches, and partial batch responses.
//!
//! Lambda does not slow down when messages fail, so this does not either: a consumer has to limit its own rate.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::item_failures::item_failures;
use crate::resource::REGION;
use crate::sandbox::{MAX_EVENT_BYTES, Sandbox};
use crate::sqs::Sqs;
use crate::template::QueueSource;

/// The longest poll that SQS allows.
const LONG_POLL_SECONDS: u64 = 20;

/// The pause between receives in the last second of a batching window, because a receive can only wait whole seconds.
const BETWEEN_RECEIVES: Duration = Duration::from_millis(100);

/// The pause after SQS did not answer.
const AFTER_ERROR: Duration = Duration::from_secs(1);

/// One poller with its execution environment. A source has as many as its maximum concurrency.
pub(crate) struct Poller {
    pub(crate) sqs: Sqs,
    pub(crate) source: QueueSource,
    pub(crate) arn: String,
    pub(crate) sandbox: Arc<Sandbox>,
}

impl Poller {
    /// Consumes the queue until `stop` turns true. A running batch is finished.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        loop {
            let outcome = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                outcome = self.gather() => outcome,
            };
            match outcome {
                Ok(messages) => {
                    for records in events(messages.iter().map(|message| self.record(message))) {
                        self.process(records).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(queue = self.source.queue, "cannot receive: {error:#}");
                    tokio::time::sleep(AFTER_ERROR).await;
                }
            }
        }
    }

    /// The next batch. After the first message it waits for more, until the batch is full or its window ends.
    async fn gather(&self) -> Result<Vec<Value>> {
        let full = usize::try_from(self.source.batch_size)?;
        let mut batch = self.sqs.receive(&self.source.queue, full, LONG_POLL_SECONDS).await?;
        let window = Instant::now() + Duration::from_secs(self.source.batching_window_seconds);

        while !batch.is_empty() && batch.len() < full {
            let left = window.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let more = self.sqs.receive(&self.source.queue, full - batch.len(), left.as_secs().min(LONG_POLL_SECONDS));
            let more = more.await?;
            if more.is_empty() {
                tokio::time::sleep(left.min(BETWEEN_RECEIVES)).await;
            }
            batch.extend(more);
        }
        Ok(batch)
    }

    /// Invokes the function with these records, and deletes those that succeeded.
    async fn process(&self, records: Vec<Value>) {
        let causes = records.iter().filter_map(message_id).map(str::to_owned).collect();
        let answer = self.sandbox.invoke(json!({ "Records": records }), causes).await;
        let failed = match answer {
            Ok(answer) if self.source.reports_item_failures => {
                item_failures(&answer, &records.iter().filter_map(message_id).collect())
            }
            Ok(_) => Ok(BTreeSet::new()),
            Err(error) => Err(error),
        };
        let failed = failed.unwrap_or_else(|error| {
            tracing::error!(function = self.source.function, error, "function failed");
            records.iter().filter_map(message_id).map(str::to_owned).collect()
        });

        let done = records.iter().filter(|record| message_id(record).is_some_and(|id| !failed.contains(id)));
        let handles: Vec<_> = done.filter_map(|record| record["receiptHandle"].as_str()).collect();
        if let Err(error) = self.sqs.delete(&self.source.queue, &handles).await {
            // The messages come back, as on AWS: consumers are idempotent.
            tracing::warn!(queue = self.source.queue, "cannot delete: {error:#}");
        }
    }

    fn record(&self, message: &Value) -> Value {
        let attributes = message["MessageAttributes"].as_object().into_iter().flatten();
        let attributes: Map<_, _> = attributes.map(|(name, value)| (name.clone(), attribute(value))).collect();
        let mut record = json!({
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "messageAttributes": attributes,
            "md5OfBody": message["MD5OfBody"],
            "eventSource": "aws:sqs",
            "eventSourceARN": self.arn,
            "awsRegion": REGION,
        });
        if let Some(digest) = message.get("MD5OfMessageAttributes") {
            record["md5OfMessageAttributes"] = digest.clone();
        }
        record
    }
}

fn attribute(value: &Value) -> Value {
    let mut attribute = json!({ "stringListValues": [], "binaryListValues": [], "dataType": value["DataType"] });
    for (field, name) in [("StringValue", "stringValue"), ("BinaryValue", "binaryValue")] {
        if let Some(value) = value.get(field) {
            attribute[name] = value.clone();
        }
    }
    attribute
}

/// Splits the records into as few events as their sizes allow.
fn events(records: impl Iterator<Item = Value>) -> Vec<Vec<Value>> {
    let mut events: Vec<Vec<Value>> = Vec::new();
    let mut bytes = 0;
    for record in records {
        let size = record.to_string().len();
        bytes += size;
        match events.last_mut() {
            Some(event) if bytes <= MAX_EVENT_BYTES => event.push(record),
            _ => {
                bytes = size;
                events.push(vec![record]);
            }
        }
    }
    events
}

fn message_id(record: &Value) -> Option<&str> {
    record["messageId"].as_str()
}

#[cfg(test)]
#[path = "queue_source_tests.rs"]
mod tests;
