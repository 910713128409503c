//! A story, as it is told.

use serde::Serialize;
use serde_json::Value;

use super::call::{Call, Changed, changed};

/// What a request did, and what followed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Story {
    #[serde(flatten)]
    pub summary: Summary,
    #[serde(flatten)]
    pub work: Work,
    /// What followed, in the sequence in which it began.
    pub followed: Vec<Followed>,
}

/// A story in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The request's id, which its client got in the header `apigw-requestid`.
    pub id: String,
    /// When the request arrived.
    pub at: String,
    pub method: String,
    pub path: String,
    /// The status of the answer. `None`: there is none yet.
    pub status: Option<u16>,
    /// The logical id of its function. `None`: the gateway answered.
    pub function: Option<String>,
    pub took_ms: Option<f64>,
    /// The number of its calls.
    pub call_count: usize,
    /// The number of invocations that followed.
    pub invocations: usize,
    /// The conditions that did not hold, each with its item.
    pub refused: Vec<String>,
    /// What the request consumed.
    pub units: Sum,
    /// What followed consumed, as far as it is this request's.
    pub units_of_what_followed: Sum,
}

/// The work of one invocation.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// The number of the execution environment.
    pub environment: Option<u64>,
    /// The error with which it ended.
    pub error: Option<String>,
    pub calls: Vec<Call>,
    /// The number of further calls.
    pub calls_left_out: usize,
    /// The records that its writes made in the streams of their tables, as far as they have been read.
    pub records: Vec<StreamRecord>,
}

/// An invocation by an event source.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Followed {
    pub function: Option<String>,
    pub at: String,
    /// `None`: it is under way.
    pub took_ms: Option<f64>,
    /// The number of steps between the request and this.
    pub depth: usize,
    /// The records and messages of this story that it was invoked with.
    pub causes: Vec<String>,
    /// The number of all records and messages that it was invoked with.
    pub of: usize,
    /// The share of this story in it: 1, unless it also worked on what others had caused.
    pub share: f64,
    /// What it consumed, for everybody.
    pub units: Sum,
    #[serde(flatten)]
    pub work: Work,
}

/// A record of a table's stream.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamRecord {
    pub table: String,
    pub sequence_number: String,
    /// `INSERT`, `MODIFY` or `REMOVE`.
    pub event: String,
    pub key: Vec<String>,
    /// What a `MODIFY` changed.
    pub changed: Vec<Changed>,
}

impl StreamRecord {
    pub(super) fn of(table: &str, key: &[String], event: &Value) -> Self {
        let (written, text) = (&event["dynamodb"], |value: &Value| value.as_str().unwrap_or_default().to_owned());
        let is_change = event["eventName"] == "MODIFY";
        Self {
            table: table.to_owned(),
            sequence_number: text(&written["SequenceNumber"]),
            event: text(&event["eventName"]),
            key: key.to_vec(),
            changed: if is_change { changed(&written["OldImage"], &written["NewImage"]) } else { Vec::new() },
        }
    }
}

/// Units, and what a million such calls cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    pub read: f64,
    pub write: f64,
    /// In US dollars. `None`: the stack knows no prices.
    pub usd_per_million: Option<f64>,
}
