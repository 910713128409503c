//! A stream record in the format of Lambda's event.

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::resource::REGION;

pub(super) struct Record {
    /// The record in Lambda's format.
    pub(super) event: Value,
    pub(super) sequence_number: String,
    /// The creation time, which DynamoDB reports to the second.
    pub(super) created: Timestamp,
}

impl Record {
    /// Converts a record of DynamoDB Streams to Lambda's format.
    pub(super) fn new(mut answered: Value, stream: &str) -> Result<Self> {
        let written = &mut answered["dynamodb"];
        let sequence_number = written["SequenceNumber"].as_str().context("a record has no sequence number")?.to_owned();
        let created = written["ApproximateCreationDateTime"].as_f64().context("a record has no creation time")?;
        let created = Timestamp::UNIX_EPOCH.checked_add(SignedDuration::try_from_secs_f64(created)?)?;

        written["ApproximateCreationDateTime"] = json!(created.as_second());
        answered["awsRegion"] = json!(REGION);
        answered["eventSourceARN"] = json!(stream);
        Ok(Self { event: answered, sequence_number, created })
    }

    /// Whether the write changed nothing. The embedded engine creates a record for such a write; AWS does not.
    pub(super) fn is_idle(&self) -> bool {
        let written = &self.event["dynamodb"];
        written.get("NewImage").is_some_and(|new| written.get("OldImage") == Some(new))
    }
}
