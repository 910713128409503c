//! A batch of stream records, as Lambda delivers it.

use std::collections::HashMap;

use aws_lambda_events::event::dynamodb::EventRecord;
use key_schema::layout::{COPIED, REMOVED};
use key_schema::value::{SequenceNumber, ShardId, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_dynamo::{AttributeValue, Item};
use serde_json::value::RawValue;

/// A batch of a shard's records.
///
/// The corresponding type of `aws_lambda_events` requires a window, which an event without tumbling windows lacks, and
/// fails as a whole if one record cannot be read.
#[derive(Debug, Deserialize)]
pub struct Batch {
    /// The records, in order. Empty in the event that ends a window.
    #[serde(rename = "Records", default, deserialize_with = "nullable")]
    pub records: Vec<Delivered>,
    /// The state that the function returned for the previous batch of this window.
    #[serde(default, deserialize_with = "nullable")]
    pub state: HashMap<String, String>,
    /// The shard. Only events with tumbling windows name it.
    #[serde(rename = "shardId")]
    pub shard_id: Option<ShardId>,
}

/// A record as it was delivered, whether or not it can be read.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Box<RawValue>")]
pub struct Delivered {
    /// The record's position in the shard.
    pub number: SequenceNumber,
    /// The record, or the reason why it cannot be read.
    pub record: Result<Record, serde_json::Error>,
    pub(crate) raw: Box<RawValue>,
}

/// A change of an item. If a migration between two tables copied the change from the other table, both images are
/// empty, and there is nothing to process.
#[derive(Clone, Debug)]
pub struct Record {
    /// `INSERT`, `MODIFY` or `REMOVE`.
    pub name: String,
    /// The time of the change, in whole seconds.
    pub written_at: Timestamp,
    /// The item before the change; empty if there was none, and in a copy.
    pub old: Item,
    /// The item after the change; empty if it was deleted, and in a copy.
    pub new: Item,
}

/// The parts that identify a record. They can be read even if the rest of the record cannot.
#[derive(Deserialize)]
pub(crate) struct Identified<'a> {
    #[serde(borrow)]
    pub(crate) dynamodb: Identity<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Identity<'a> {
    sequence_number: SequenceNumber,
    #[serde(borrow)]
    pub(crate) keys: Option<&'a RawValue>,
}

impl TryFrom<Box<RawValue>> for Delivered {
    type Error = serde_json::Error;

    fn try_from(raw: Box<RawValue>) -> Result<Self, serde_json::Error> {
        let (number, record) = match read(&raw) {
            Ok((number, record)) => (number, Ok(record)),
            Err(error) => (serde_json::from_str::<Identified>(raw.get())?.dynamodb.sequence_number, Err(error)),
        };
        Ok(Self { number, record, raw })
    }
}

fn read(raw: &RawValue) -> Result<(SequenceNumber, Record), serde_json::Error> {
    let EventRecord { event_name, change, .. } = serde_json::from_str(raw.get())?;
    let number = change.sequence_number.unwrap_or_default().parse().map_err(serde_json::Error::custom)?;
    let written_at = Timestamp::from_millisecond(change.approximate_creation_date_time.timestamp_millis());
    let written_at = written_at.ok_or_else(|| serde_json::Error::custom("its creation time is out of range"))?;
    let (mut old, mut new) = (change.old_image, change.new_image);
    if is_copy(&old, &new) {
        (old, new) = Default::default();
    }
    Ok((number, Record { name: event_name, written_at, old, new }))
}

/// Whether a migration wrote the change as a copy. Each copy changes the mark, and no other change does.
///
/// The same change is also in the stream of the table that led. Only that record says what happened, so that each change
/// is processed once, whichever table leads.
fn is_copy(old: &Item, new: &Item) -> bool {
    let mark = |image: &Item| image.get(COPIED).cloned();
    if new.is_empty() {
        return mark(old) == Some(AttributeValue::S(REMOVED.to_owned()));
    }
    mark(new).is_some_and(|new| mark(old) != Some(new))
}

fn nullable<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod copies;

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use serde_json::json;

    use super::Batch;

    #[test]
    fn a_record_that_cannot_be_read_fails_alone_and_keeps_its_number() {
        let record = |number: &str, created: serde_json::Value| {
            json!({
                "awsRegion": "eu-west-1", "eventID": "1", "eventName": "INSERT",
                "dynamodb": { "ApproximateCreationDateTime": created, "Keys": { "PK": { "S": "o#1" } },
                    "NewImage": { "n": { "N": "1" } }, "SequenceNumber": number, "SizeBytes": 1,
                    "StreamViewType": "NEW_AND_OLD_IMAGES" },
            })
        };
        let records = [record("1", json!(1_795_253_681)), record("2", json!("yesterday")), record("3", json!(1))];
        let text = json!({ "Records": records, "shardId": "shardId-1" }).to_string();
        let batch: Batch = serde_json::from_str(&text).expect("a batch");
        let read = batch.records.iter().map(|record| (record.number.as_str(), record.record.is_ok()));
        assert!(read.eq([("1", true), ("2", false), ("3", true)]));
    }

    #[test]
    fn an_event_that_ends_a_window_has_no_records() {
        let batch: Batch = serde_json::from_str(r#"{"Records": null, "state": null}"#).expect("a batch");
        assert!(batch.records.is_empty() && batch.state.is_empty() && batch.shard_id.is_none());
    }
}
