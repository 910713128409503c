//! The template's queues at one SQS endpoint, embedded or not.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use crate::aws_json::Service;
use crate::resource::queue_url;
use crate::template::Queue;

/// The most messages in one receive or one batch.
pub(crate) const MAX_BATCH: usize = 10;

/// The queues, by name.
#[derive(Clone)]
pub(crate) struct Sqs {
    service: Service,
    queues: Vec<Queue>,
}

/// The number of messages of a queue: approximate on AWS, exact in the embedded SQS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    pub(crate) visible: u64,
    /// Messages that were received, and neither deleted nor visible again.
    pub(crate) in_flight: u64,
    /// Sent with a delay that has not ended.
    pub(crate) delayed: u64,
}

impl Sqs {
    pub(crate) fn new(url: &str, queues: &[Queue]) -> Result<Self> {
        Ok(Self { service: Service::sqs(url)?, queues: queues.to_vec() })
    }

    /// The same, called as this function: what its role does not allow is refused.
    pub(crate) fn signed_by(&self, function: &str) -> Self {
        Self { service: self.service.signed_by(function), queues: self.queues.clone() }
    }

    pub(crate) fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// Creates the queues, unless they are there already with the same attributes.
    pub(crate) async fn ensure_queues(&self) -> Result<()> {
        for queue in &self.queues {
            let request = json!({ "QueueName": queue.name, "Attributes": queue.attributes() });
            match self.service.call("CreateQueue", &request).await? {
                Ok(_) => {}
                Err(refusal) if refusal.is("QueueAlreadyExists") || refusal.is("QueueNameExists") => bail!(
                    "the queue {} at {} has other attributes than the template says: delete it",
                    queue.name,
                    self.service.url()
                ),
                Err(refusal) => return Err(refusal.into_error("CreateQueue")),
            }
        }
        Ok(())
    }

    /// Sends one message with these attributes, an object or null, and returns its id.
    pub(crate) async fn send(&self, queue: &str, body: &Value, attributes: &Value) -> Result<String> {
        let mut request = json!({ "QueueUrl": queue_url(queue), "MessageBody": body });
        if !attributes.is_null() {
            request["MessageAttributes"] = attributes.clone();
        }
        let answer = self.service.succeed("SendMessage", &request).await?;
        Ok(answer["MessageId"].as_str().context("a message has no id")?.to_owned())
    }

    /// Up to `most` messages with all that is known of them, after up to `wait_seconds` of there being none.
    pub(crate) async fn receive(&self, queue: &str, most: usize, wait_seconds: u64) -> Result<Vec<Value>> {
        let request = json!({
            "QueueUrl": queue_url(queue),
            "MaxNumberOfMessages": most.min(MAX_BATCH),
            "WaitTimeSeconds": wait_seconds,
            "MessageSystemAttributeNames": ["All"],
            "MessageAttributeNames": ["All"],
        });
        let mut answer = self.service.succeed("ReceiveMessage", &request).await?;
        Ok(answer["Messages"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Deletes the messages with these receipt handles. All are tried; those that remain are an error.
    pub(crate) async fn delete(&self, queue: &str, handles: &[&str]) -> Result<()> {
        let mut failed = Vec::new();
        for handles in handles.chunks(MAX_BATCH) {
            let entries = handles.iter().enumerate();
            let entries: Vec<_> =
                entries.map(|(id, handle)| json!({ "Id": id.to_string(), "ReceiptHandle": handle })).collect();
            let request = json!({ "QueueUrl": queue_url(queue), "Entries": entries });
            let mut answer = self.service.succeed("DeleteMessageBatch", &request).await?;
            failed.extend(answer["Failed"].as_array_mut().map(std::mem::take).unwrap_or_default());
        }
        let first = failed.first().map_or("", |failure| failure["Message"].as_str().unwrap_or_default());
        ensure!(failed.is_empty(), "{} messages were not deleted from {queue}: {first}", failed.len());
        Ok(())
    }

    /// The numbers of messages of each queue.
    pub(crate) async fn counts(&self) -> Result<BTreeMap<String, Counts>> {
        let mut counts = BTreeMap::new();
        for queue in &self.queues {
            counts.insert(queue.name.clone(), self.counts_of(&queue.name).await?);
        }
        Ok(counts)
    }

    /// The numbers of messages of this queue.
    pub(crate) async fn counts_of(&self, queue: &str) -> Result<Counts> {
        let request = json!({ "QueueUrl": queue_url(queue), "AttributeNames": ["All"] });
        let answer = self.service.succeed("GetQueueAttributes", &request).await?;
        let count = |suffix: &str| {
            let count = answer["Attributes"][format!("ApproximateNumberOfMessages{suffix}")].as_str();
            count.and_then(|count| count.parse().ok()).unwrap_or_default()
        };
        Ok(Counts { visible: count(""), in_flight: count("NotVisible"), delayed: count("Delayed") })
    }
}
