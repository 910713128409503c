//! The queue of lost records.

use std::collections::BTreeMap;

use key_schema::value::ShardId;
use lambda::{Environment, FromEnvironment, Misconfigured};
use queue::{Error, Queue};
use serde::Serialize;
use serde_json::value::RawValue;
use tracing::error;

use crate::Delivered;
use crate::batch::Identified;

/// The longest message, in bytes, that every SQS queue accepts. A longer record is sent without its images.
const MOST_BYTES: usize = 256 * 1024;

/// The queue of the records that a consumer of the stream gives up. To the same queue, Lambda's event source mapping
/// sends the shard and the sequence numbers of the batches that it gives up.
#[derive(Clone, Debug)]
pub struct LostRecords(Queue);

/// The body of a message about one record. It is also a valid event for the function that gave the record up, so a
/// later version of the function can be invoked with it.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Lost<'a> {
    reason: &'a str,
    shard_id: Option<&'a ShardId>,
    /// Whether the shard's checkpoint lists the record as not counted, or will when the consumer passes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    listed: bool,
    sequence_number: &'a str,
    keys: Option<&'a RawValue>,
    #[serde(rename = "Records")]
    records: Vec<&'a RawValue>,
}

impl FromEnvironment for LostRecords {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Queue::named(environment, "LOST_RECORDS_URL").map(Self)
    }
}

impl LostRecords {
    /// Sends a record to the queue, with the reason. One request. After an error the queue may hold the record all the
    /// same, and may get it twice. The sequence number identifies duplicates.
    ///
    /// # Errors
    /// The queue refused the message or did not answer.
    pub async fn take(&self, shard: Option<&ShardId>, delivered: &Delivered, reason: &str) -> Result<(), Error> {
        let number = delivered.number.as_str();
        error!(sequence_number = number, reason, "a record is given up");
        let body = message(shard, delivered, reason);
        self.0.send(&queue::Message { body, attributes: BTreeMap::new(), group: None }).await
    }
}

fn message(shard: Option<&ShardId>, delivered: &Delivered, reason: &str) -> String {
    let keys = serde_json::from_str::<Identified>(delivered.raw.get()).ok().and_then(|record| record.dynamodb.keys);
    let mut message = Lost {
        reason,
        shard_id: shard,
        listed: shard.is_some(),
        sequence_number: delivered.number.as_str(),
        keys,
        records: vec![&delivered.raw],
    };
    // Serializing text and raw JSON cannot fail.
    let text = |message: &Lost| serde_json::to_string(message).unwrap_or_default();
    let with_record = text(&message);
    if with_record.len() <= MOST_BYTES {
        return with_record;
    }
    message.records.clear();
    text(&message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use serde_json::{Value, json};

    use super::{MOST_BYTES, message};
    use crate::{Batch, Delivered};

    fn delivered(attribute: &str) -> Delivered {
        let record = json!({
            "eventName": "INSERT",
            "dynamodb": { "Keys": { "PK": { "S": "o#1" } }, "NewImage": { "a": { "S": attribute } },
                "SequenceNumber": "7" },
        });
        serde_json::from_value(record).expect("it has a number")
    }

    #[test]
    fn a_message_names_the_record_and_is_an_event_that_contains_it() {
        let text = message(None, &delivered("x"), "no reason");
        let sent: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&sent["reason"], &sent["sequenceNumber"]), (&json!("no reason"), &json!("7")));
        assert_eq!(sent["keys"], json!({ "PK": { "S": "o#1" } }));
        let batch: Batch = serde_json::from_str(&text).expect("an event");
        assert_eq!(batch.records[0].number.as_str(), "7");
    }

    #[test]
    fn a_record_that_is_too_large_is_sent_without_its_images() {
        let text = message(None, &delivered(&"x".repeat(MOST_BYTES)), "too large");
        let sent: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&sent["keys"]["PK"]["S"], &sent["Records"]), (&json!("o#1"), &json!([])));
    }
}
