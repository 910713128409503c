//! A message.

use std::time::{SystemTime, UNIX_EPOCH};

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::request::{Fault, Outcome};

/// Values by their names, in the form that SQS answers.
pub(super) type Attributes = Map<String, Value>;

/// The sender of every message.
const SENDER: &str = "AIDAIT2UOQQY3AUEKVGXU";

/// All times are in milliseconds since 1970.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) id: String,
    body: String,
    attributes: Attributes,
    pub(super) sent_at: i64,
    first_received_at: Option<i64>,
    pub(super) receive_count: u64,
    /// When its delay or its visibility timeout ends.
    pub(super) visible_at: i64,
}

impl Message {
    pub(super) fn new(body: &str, request: &Value, delay: i64) -> Self {
        let attributes = request["MessageAttributes"].as_object().cloned().unwrap_or_default();
        let (id, sent_at) = (Uuid::new_v4().to_string(), now());
        let visible_at = sent_at + delay * 1000;
        Self { id, body: body.to_owned(), attributes, sent_at, first_received_at: None, receive_count: 0, visible_at }
    }

    /// The same as a dead letter, which was not received yet.
    pub(super) fn into_dead_letter(self) -> Self {
        Self { first_received_at: None, receive_count: 0, ..self }
    }

    /// The digest of the body, which some clients check.
    pub(super) fn digest(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(Md5::digest(&self.body).into()))
    }

    /// Hides the message for this many seconds, and returns it with the attributes that this request asks for.
    pub(super) fn receive(&mut self, queue: &str, timeout: i64, request: &Value) -> Value {
        let now = now();
        self.receive_count += 1;
        self.visible_at = now + timeout * 1000;
        let first = *self.first_received_at.get_or_insert(now);

        let mut answer = json!({
            "MessageId": self.id, "ReceiptHandle": self.receipt(queue), "MD5OfBody": self.digest(), "Body": self.body,
        });
        let system = [
            ("SenderId", SENDER.to_owned()),
            ("SentTimestamp", self.sent_at.to_string()),
            ("ApproximateReceiveCount", self.receive_count.to_string()),
            ("ApproximateFirstReceiveTimestamp", first.to_string()),
        ];
        let system = system.map(|(name, value)| (name.to_owned(), Value::String(value))).into_iter().collect();
        let system = requested(system, request, &["AttributeNames", "MessageSystemAttributeNames"]);
        let own = requested(self.attributes.clone(), request, &["MessageAttributeNames"]);
        for (member, attributes) in [("Attributes", system), ("MessageAttributes", own)] {
            if !attributes.is_empty() {
                answer[member] = Value::Object(attributes);
            }
        }
        answer
    }

    /// The handle of the last receipt. [`id_of`] reads it.
    pub(super) fn receipt(&self, queue: &str) -> String {
        format!("{queue}/{}/{}", self.id, self.receive_count)
    }
}

pub(super) fn id_of<'handle>(handle: &'handle str, queue: &str) -> Outcome<&'handle str> {
    let message = || format!("The input receipt handle \"{handle}\" is not a valid receipt handle.");
    let parts = handle.strip_prefix(queue).and_then(|rest| rest.strip_prefix('/')?.split_once('/'));
    parts.map(|(id, _)| id).ok_or_else(|| Fault::new("ReceiptHandleIsInvalid", message()))
}

/// The attributes that these lists of a request name: by name, by `prefix.*`, or all. So a function that forgets to
/// request one fails here, and not only on AWS.
pub(super) fn requested(mut attributes: Attributes, request: &Value, lists: &[&str]) -> Attributes {
    let asked: Vec<_> = lists.iter().filter_map(|list| request[*list].as_array()).flatten().collect();
    attributes.retain(|name, _| {
        asked.iter().filter_map(|asked| asked.as_str()).any(|asked| match asked.strip_suffix(".*") {
            Some(prefix) => name.starts_with(prefix),
            None => asked == "All" || asked == name,
        })
    });
    attributes
}

/// A message's size: its body, and the name, type and value of each attribute.
pub(super) fn size(message: &Value) -> usize {
    let text = |value: &Value| value.as_str().map_or(0, str::len);
    let attributes = message["MessageAttributes"].as_object().into_iter().flatten().map(|(name, attribute)| {
        // Four base64 characters are three bytes.
        let bytes = text(&attribute["BinaryValue"]) / 4 * 3;
        name.len() + text(&attribute["DataType"]) + text(&attribute["StringValue"]) + bytes
    });
    text(&message["MessageBody"]) + attributes.sum::<usize>()
}

pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
