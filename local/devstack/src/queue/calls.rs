//! The queues, and SQS's calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::file::{Log, Messages};
use super::message::{Attributes, Message, id_of, now, requested, size};
use super::request::{Fault, MAX_ENTRIES, MAX_VISIBILITY, Outcome, number, text};
use crate::resource::{queue_arn, queue_url};

/// The largest message and the largest batch of SQS, since August 2025.
pub(super) const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// The attributes of a queue that are numbers, with their defaults.
const NUMBERS: [(&str, &str); 4] = [
    ("DelaySeconds", "0"),
    ("MessageRetentionPeriod", "345600"),
    ("ReceiveMessageWaitTimeSeconds", "0"),
    ("VisibilityTimeout", "30"),
];

/// The queues and their messages.
#[derive(Default)]
pub(super) struct Sqs {
    queues: BTreeMap<String, Attributes>,
    pub(super) messages: Messages,
    /// The file of the messages, if they survive this process.
    pub(super) log: Option<Log>,
    /// Wakes the receives that wait for messages.
    pub(super) arrivals: Arc<Notify>,
}

impl Sqs {
    /// An SQS with the messages of an earlier run.
    pub(super) fn kept_in(file: &Path) -> anyhow::Result<Self> {
        let (log, messages) = Log::open(file)?;
        Ok(Self { messages, log: Some(log), ..Self::default() })
    }

    /// Answers a call, except `ReceiveMessage`.
    pub(super) fn answer(&mut self, action: &str, request: &Value) -> Outcome {
        match action {
            "CreateQueue" => self.create(request),
            "DeleteQueue" => {
                let queue = self.queue(request)?;
                self.remove(queue, |_| true)?;
                self.queues.remove(queue);
                Ok(Value::Null)
            }
            "GetQueueUrl" => Ok(json!({ "QueueUrl": queue_url(self.queue(request)?) })),
            "ListQueues" => {
                let prefix = request["QueueNamePrefix"].as_str().unwrap_or_default();
                let names = self.queues.keys().filter(|name| name.starts_with(prefix));
                Ok(json!({ "QueueUrls": names.map(|name| queue_url(name)).collect::<Vec<_>>() }))
            }
            "GetQueueAttributes" => self.describe(request),
            "PurgeQueue" => self.remove(self.queue(request)?, |_| true),
            "SendMessage" => self.send(request),
            "DeleteMessage" => {
                let (queue, handle) = (self.queue(request)?, text(request, "ReceiptHandle")?);
                let id = id_of(handle, queue)?;
                self.remove(queue, |message| message.id == id)
            }
            "ChangeMessageVisibility" => self.change_visibility(request),
            "SendMessageBatch" | "DeleteMessageBatch" | "ChangeMessageVisibilityBatch" => {
                self.batch(action.trim_end_matches("Batch"), request)
            }
            _ => Err(Fault::new("InvalidAction", format!("The embedded SQS does not have {action:?}."))),
        }
    }

    fn create(&mut self, request: &Value) -> Outcome {
        let name = text(request, "QueueName")?;
        if name.len() > 80 || !name.chars().all(|char| char.is_ascii_alphanumeric() || "-_".contains(char)) {
            let rule = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length";
            return Err(Fault::new("InvalidParameterValue", rule));
        }
        let wanted = request["Attributes"].as_object().cloned().unwrap_or_default();
        for (attribute, value) in &wanted {
            let is_number = NUMBERS.iter().any(|(name, _)| name == attribute) && seconds(&wanted, attribute).is_some();
            if !is_number && (attribute != "RedrivePolicy" || redrive(&wanted).is_none()) {
                let message = format!("Invalid value {value} for the parameter {attribute}.");
                return Err(Fault::new("InvalidAttributeValue", message));
            }
            if self.queues.get(name).is_some_and(|queue| queue.get(attribute) != Some(value)) {
                let rule = "A queue already exists with the same name and a different value for attribute";
                return Err(Fault::new("QueueAlreadyExists", format!("{rule} {attribute}")));
            }
        }
        let defaults = NUMBERS.map(|(name, value)| (name.to_owned(), json!(value)));
        self.queues.entry(name.to_owned()).or_insert_with(|| defaults.into_iter().chain(wanted).collect());
        Ok(json!({ "QueueUrl": queue_url(name) }))
    }

    fn describe(&mut self, request: &Value) -> Outcome {
        let queue = self.queue(request)?;
        self.expire(queue)?;
        let now = now();
        let kind = |message: &Message| match (message.visible_at <= now, message.receive_count) {
            (true, _) => "",
            (false, 0) => "Delayed",
            (false, _) => "NotVisible",
        };
        let mut attributes = self.queues[queue].clone();
        attributes.insert("QueueArn".to_owned(), json!(queue_arn(queue)));
        for suffix in ["", "Delayed", "NotVisible"] {
            let messages = self.messages.get(queue).into_iter().flatten();
            let count = messages.filter(|message| kind(message) == suffix).count().to_string();
            attributes.insert(format!("ApproximateNumberOfMessages{suffix}"), json!(count));
        }
        Ok(json!({ "Attributes": requested(attributes, request, &["AttributeNames"]) }))
    }

    fn send(&mut self, request: &Value) -> Outcome {
        let (queue, body) = (self.queue(request)?, text(request, "MessageBody")?);
        if size(request) > MAX_MESSAGE_BYTES {
            let reason = format!("Message must be shorter than {MAX_MESSAGE_BYTES} bytes.");
            let message = format!("One or more parameters are invalid. Reason: {reason}");
            return Err(Fault::new("InvalidParameterValue", message));
        }
        let delay = number(request, "DelaySeconds", 0..=900)?;
        let delay = delay.or_else(|| seconds(&self.queues[queue], "DelaySeconds")).unwrap_or_default();
        let message = Message::new(body, request, delay);
        let answer = json!({ "MessageId": message.id, "MD5OfMessageBody": message.digest() });
        self.put(queue, message)?;
        Ok(answer)
    }

    fn change_visibility(&mut self, request: &Value) -> Outcome {
        let (queue, handle) = (self.queue(request)?, text(request, "ReceiptHandle")?);
        let timeout = number(request, "VisibilityTimeout", 0..=MAX_VISIBILITY)?.unwrap_or_default();
        id_of(handle, queue)?;
        let mut messages = self.messages.get_mut(queue).into_iter().flatten();
        let message = messages.find(|message| message.receipt(queue) == handle).ok_or_else(|| {
            let reason = "Message does not exist or is not available for visibility timeout change.";
            Fault::invalid(handle, "ReceiptHandle", reason)
        })?;
        message.visible_at = now() + timeout * 1000;
        self.arrivals.notify_waiters();
        Ok(Value::Null)
    }

    /// Makes each entry of a batch a call. A bad entry fails alone.
    fn batch(&mut self, action: &str, request: &Value) -> Outcome {
        self.queue(request)?;
        let entries = request["Entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        ensure_sound(entries)?;
        let (mut successful, mut failed) = (Vec::new(), Vec::new());
        for entry in entries {
            let mut call = entry.clone();
            call["QueueUrl"] = request["QueueUrl"].clone();
            match self.answer(action, &call) {
                Ok(answer) => {
                    let mut answer = answer.as_object().cloned().unwrap_or_default();
                    answer.insert("Id".to_owned(), entry["Id"].clone());
                    successful.push(answer);
                }
                Err(Fault { code, message }) => {
                    failed.push(json!({ "Id": entry["Id"], "SenderFault": true, "Code": code, "Message": message }));
                }
            }
        }
        Ok(json!({ "Successful": successful, "Failed": failed }))
    }

    /// Receives visible messages, and says when the next one will be visible. Messages that were received too often
    /// become dead letters.
    pub(super) fn receive(&mut self, request: &Value) -> Outcome<(Vec<Value>, Option<i64>)> {
        let queue = self.queue(request)?;
        let most = number(request, "MaxNumberOfMessages", 1..=MAX_ENTRIES)?.unwrap_or(1);
        let timeout = number(request, "VisibilityTimeout", 0..=MAX_VISIBILITY)?;
        let timeout = timeout.or_else(|| seconds(&self.queues[queue], "VisibilityTimeout")).unwrap_or_default();
        self.expire(queue)?;
        let now = now();
        if let Some((dead_letters, most)) = redrive(&self.queues[queue]) {
            let messages = self.messages.get(queue).into_iter().flatten();
            let dead = messages.filter(|message| message.visible_at <= now && message.receive_count >= most);
            for message in dead.cloned().collect::<Vec<_>>() {
                let id = message.id.clone();
                // A crash in between leaves both.
                self.put(&dead_letters, message.into_dead_letter())?;
                self.remove(queue, |message| message.id == id)?;
            }
        }
        let messages = self.messages.entry(queue.to_owned()).or_default();
        let visible = messages.iter_mut().filter(|message| message.visible_at <= now);
        let visible = visible.take(most.try_into().unwrap_or_default());
        let received = visible.map(|message| message.receive(queue, timeout, request)).collect();
        Ok((received, messages.iter().map(|message| message.visible_at).min()))
    }

    /// How long a receive waits for messages.
    pub(super) fn wait(&self, request: &Value) -> Outcome<i64> {
        let wait = number(request, "WaitTimeSeconds", 0..=20)?;
        let default = seconds(&self.queues[self.queue(request)?], "ReceiveMessageWaitTimeSeconds");
        Ok(wait.or(default).unwrap_or_default())
    }

    /// The name of the queue that a request names, and which exists.
    fn queue<'request>(&self, request: &'request Value) -> Outcome<&'request str> {
        let name = request["QueueName"].as_str().map_or_else(|| text(request, "QueueUrl"), Ok)?;
        let name = name.rsplit('/').next().unwrap_or_default();
        let missing = || Fault::new("AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.");
        self.queues.contains_key(name).then_some(name).ok_or_else(missing)
    }

    /// Removes messages older than the retention period.
    fn expire(&mut self, queue: &str) -> Outcome {
        let retention = seconds(&self.queues[queue], "MessageRetentionPeriod").unwrap_or_default();
        let oldest = now() - retention * 1000;
        self.remove(queue, |message| message.sent_at <= oldest)
    }

    fn put(&mut self, queue: &str, message: Message) -> Outcome<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.sent(queue, &message))?;
        self.messages.entry(queue.to_owned()).or_default().push(message);
        self.arrivals.notify_waiters();
        Ok(())
    }

    fn remove(&mut self, queue: &str, is_gone: impl Fn(&Message) -> bool) -> Outcome {
        let messages = self.messages.entry(queue.to_owned()).or_default();
        for message in messages.extract_if(.., |message| is_gone(message)) {
            self.log.as_mut().map_or(Ok(()), |log| log.gone(queue, &message.id))?;
        }
        Ok(Value::Null)
    }
}

fn seconds(attributes: &Attributes, name: &str) -> Option<i64> {
    let seconds: u32 = attributes.get(name)?.as_str()?.parse().ok()?;
    Some(seconds.into())
}

/// The dead-letter queue and the most receives of a message, if there is a redrive policy.
fn redrive(attributes: &Attributes) -> Option<(String, u64)> {
    let policy: Value = serde_json::from_str(attributes.get("RedrivePolicy")?.as_str()?).ok()?;
    let (_, queue) = policy["deadLetterTargetArn"].as_str()?.rsplit_once(':')?;
    Some((queue.to_owned(), policy["maxReceiveCount"].as_u64()?))
}

fn ensure_sound(entries: &[Value]) -> Outcome<()> {
    let ids: BTreeSet<_> = entries.iter().filter_map(|entry| entry["Id"].as_str()).collect();
    let (count, bytes) = (entries.len(), entries.iter().map(size).sum::<usize>());
    let (code, message) = if entries.is_empty() {
        ("AWS.SimpleQueueService.EmptyBatchRequest", "There should be at least one entry in the request.".to_owned())
    } else if i64::try_from(count).is_ok_and(|count| count > MAX_ENTRIES) {
        let message = format!("Maximum number of entries per request are {MAX_ENTRIES}. You have sent {count}.");
        ("AWS.SimpleQueueService.TooManyEntriesInBatchRequest", message)
    } else if ids.len() < count {
        let message = "Every entry needs an Id of its own.".to_owned();
        ("AWS.SimpleQueueService.BatchEntryIdsNotDistinct", message)
    } else if bytes > MAX_MESSAGE_BYTES {
        let limit = format!("Batch requests cannot be longer than {MAX_MESSAGE_BYTES} bytes");
        ("AWS.SimpleQueueService.BatchRequestTooLong", format!("{limit}. You have sent {bytes} bytes."))
    } else {
        return Ok(());
    };
    Err(Fault::new(code, message))
}
