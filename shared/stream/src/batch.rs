//! A batch of records.

use std::collections::HashMap;

use aws_lambda_events::event::dynamodb::EventRecord;
use key_schema::value::{SequenceNumber, ShardId, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_dynamo::Item;
use serde_json::value::RawValue;

/// A batch of a shard's records.
///
/// As much of it as is used: the crate's own type wants a window, which an event without windows does not have, and
/// reads all records or none.
#[derive(Debug, Deserialize)]
pub struct Batch {
    /// The records, in order. None when a window ends.
    #[serde(rename = "Records", default, deserialize_with = "nullable")]
    pub records: Vec<Delivered>,
    /// The answer of the batch before in this window.
    #[serde(default, deserialize_with = "nullable")]
    pub state: HashMap<String, String>,
    /// The shard. Only tumbling windows name it.
    #[serde(rename = "shardId")]
    pub shard_id: Option<ShardId>,
}

/// A record as it was delivered.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Box<RawValue>")]
pub struct Delivered {
    /// Its place in the shard.
    pub number: SequenceNumber,
    /// What it says, if it reads like a record of a table's stream.
    pub record: Result<Record, serde_json::Error>,
    pub(crate) raw: Box<RawValue>,
}

/// A change of an item.
#[derive(Clone, Debug)]
pub struct Record {
    /// `INSERT`, `MODIFY` or `REMOVE`.
    pub name: String,
    /// When it was written, in whole seconds.
    pub written_at: Timestamp,
    /// The item before; empty if there was none.
    pub old: Item,
    /// The item after; empty if there is none.
    pub new: Item,
}

/// What names a record, whatever else is in it.
#[derive(Deserialize)]
pub(crate) struct Named<'a> {
    #[serde(borrow)]
    pub(crate) dynamodb: Name<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Name<'a> {
    sequence_number: SequenceNumber,
    /// The key of the item.
    #[serde(borrow)]
    pub(crate) keys: Option<&'a RawValue>,
}

impl TryFrom<Box<RawValue>> for Delivered {
    type Error = serde_json::Error;

    fn try_from(raw: Box<RawValue>) -> Result<Self, serde_json::Error> {
        let (number, record) = match read(&raw) {
            Ok((number, record)) => (number, Ok(record)),
            Err(error) => (serde_json::from_str::<Named>(raw.get())?.dynamodb.sequence_number, Err(error)),
        };
        Ok(Self { number, record, raw })
    }
}

fn read(raw: &RawValue) -> Result<(SequenceNumber, Record), serde_json::Error> {
    let EventRecord { event_name, change, .. } = serde_json::from_str(raw.get())?;
    let number = change.sequence_number.unwrap_or_default().parse().map_err(serde_json::Error::custom)?;
    let written_at = Timestamp::from_millisecond(change.approximate_creation_date_time.timestamp_millis());
    let written_at = written_at.ok_or_else(|| serde_json::Error::custom("it was written at no time"))?;
    Ok((number, Record { name: event_name, written_at, old: change.old_image, new: change.new_image }))
}

fn nullable<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use serde_json::json;

    use super::Batch;

    #[test]
    fn a_record_that_does_not_read_like_one_fails_alone_and_keeps_its_number() {
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
    fn a_window_that_ends_has_no_records() {
        let batch: Batch = serde_json::from_str(r#"{"Records": null, "state": null}"#).expect("a batch");
        assert!(batch.records.is_empty() && batch.state.is_empty() && batch.shard_id.is_none());
    }
}
