//! What Lambda sends: a batch of a shard's records, with what tumbling windows add to it.

use std::collections::HashMap;

use aws_lambda_events::event::dynamodb::EventRecord;
use counting::{Change, Record};
use key_schema::value::{Invalid, SequenceNumber, ShardId};
use serde::{Deserialize, Deserializer};

/// A batch of a shard's records.
///
/// As much of it as is used: the crate's own type wants a window, which an event without windows does not have, and
/// that is to be refused with a reason.
#[derive(Debug, Deserialize)]
pub struct StreamEvent {
    /// The records, in order. None when a window ends.
    #[serde(rename = "Records", default, deserialize_with = "nullable")]
    pub records: Vec<EventRecord>,
    /// What the batch before in this window answered.
    #[serde(default, deserialize_with = "nullable")]
    pub state: HashMap<String, String>,
    /// The shard. Only tumbling windows name it.
    #[serde(rename = "shardId")]
    pub shard_id: Option<ShardId>,
}

fn nullable<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The record, as the counts see it.
///
/// # Errors
/// It has no sequence number, without which nobody can tell whether it is counted.
pub(crate) fn record(record: EventRecord) -> Result<Record, Invalid> {
    let change = record.change;
    let number: SequenceNumber = change.sequence_number.unwrap_or_default().parse()?;
    Ok(Record { number, change: Change::read(&record.event_name, change.old_image, change.new_image) })
}
