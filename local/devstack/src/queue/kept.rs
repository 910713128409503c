//! The file that keeps messages between two runs.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use winterbaume_sqs::types::{Message, MessageAttribute};

use crate::option_error::OptionError;
use crate::private_file;

/// Messages by the name of their queue. A message in flight becomes visible when its visibility timeout ends.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Kept {
    queues: BTreeMap<String, Vec<KeptMessage>>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptMessage {
    id: String,
    body: String,
    body_md5: String,
    sender: String,
    /// All times are in milliseconds since 1970.
    sent_at: i64,
    first_received_at: Option<i64>,
    receive_count: u32,
    visible_at: i64,
    attributes: BTreeMap<String, KeptAttribute>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeptAttribute {
    data_type: String,
    value: Option<String>,
}

impl Kept {
    /// Reads the file. If there is none, there are no messages.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let name = file.display();
        let message = format!("cannot read the queued messages in {name}: delete it or choose another directory");
        let unreadable = OptionError::new("data", message);
        match std::fs::read(file) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| unreadable.caused_by(error).into()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(unreadable.caused_by(error).into()),
        }
    }

    /// Replaces the file atomically: a crash leaves the old one.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let unwritable = || format!("cannot write the queued messages to {}", file.display());
        let new = file.with_extension("json.new");
        let text = serde_json::to_vec(self)?;
        private_file::create(&new).and_then(|mut file| file.write_all(&text)).with_context(unwritable)?;
        std::fs::rename(&new, file).with_context(unwritable)
    }

    /// Adds a queue's messages.
    pub(super) fn put(&mut self, queue: &str, messages: &[Message]) {
        self.queues.insert(queue.to_owned(), messages.iter().map(KeptMessage::from).collect());
    }

    /// Adds one message.
    pub(super) fn add(&mut self, queue: &str, message: KeptMessage) {
        self.remove(queue, &message.id);
        self.queues.entry(queue.to_owned()).or_default().push(message);
    }

    /// Removes the message with this id, if it is there.
    pub(super) fn remove(&mut self, queue: &str, id: &str) {
        self.queues.entry(queue.to_owned()).or_default().retain(|message| message.id != id);
    }

    /// Removes and returns a queue's messages.
    pub(super) fn take(&mut self, queue: &str) -> impl Iterator<Item = Message> + use<> {
        self.queues.remove(queue).unwrap_or_default().into_iter().map(Message::from)
    }
}

impl From<&Message> for KeptMessage {
    fn from(message: &Message) -> Self {
        let attributes = message.message_attributes.iter().map(|(name, attribute)| {
            let MessageAttribute { data_type, string_value, .. } = attribute.clone();
            (name.clone(), KeptAttribute { data_type, value: string_value })
        });
        Self {
            id: message.message_id.clone(),
            body: message.body.clone(),
            body_md5: message.body_md5.clone(),
            sender: message.sender_id.clone(),
            sent_at: message.sent_timestamp,
            first_received_at: message.approximate_first_receive_timestamp,
            receive_count: message.approximate_receive_count,
            visible_at: message.visible_at,
            attributes: attributes.collect(),
        }
    }
}

impl From<KeptMessage> for Message {
    fn from(kept: KeptMessage) -> Self {
        let attributes = kept.attributes.into_iter().map(|(name, KeptAttribute { data_type, value })| {
            (name, MessageAttribute { data_type, string_value: value, binary_value: None })
        });
        Self {
            message_id: kept.id,
            body: kept.body,
            body_md5: kept.body_md5,
            // Receipt handles of the earlier run are not valid any more.
            receipt_handle: None,
            all_receipt_handles: Vec::new(),
            sender_id: kept.sender,
            sent_timestamp: kept.sent_at,
            approximate_first_receive_timestamp: kept.first_received_at,
            approximate_receive_count: kept.receive_count,
            visible_at: kept.visible_at,
            message_attributes: attributes.collect(),
        }
    }
}
