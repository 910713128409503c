//! The messages by which a function is told to work on a segment.

use key_schema::entity::CopyProgress;
use serde::{Deserialize, Serialize};

/// What a message says: to work on a segment of a run. It says nothing about what is left to do, because the progress of
/// the segment does. So it may come twice, late, or after the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The run's number. A message of an earlier run asks for nothing.
    pub run: u64,
    /// The segment's number.
    pub segment: u8,
}

impl Assignment {
    /// To work on the rest of this segment.
    pub fn of(progress: &CopyProgress) -> Self {
        Self { run: progress.run, segment: progress.segment }
    }

    /// The assignment in this message.
    ///
    /// # Errors
    /// It contains none.
    pub fn of_message(body: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(body)
    }

    /// The message.
    pub fn message(self) -> String {
        serde_json::json!(self).to_string()
    }
}
