//! Tumbling windows: the invocations of a window pass their state on.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::record::Record;

/// The largest state: 1 MB. A larger one ends the window early.
const MAX_STATE_BYTES: usize = 1024 * 1024;

/// The time that a window waits after its end for late records of it. AWS waits up to two minutes.
const LATE_SECONDS: f64 = 0.5;

/// Windows of this many seconds. Each begins at a multiple of its length.
#[derive(Clone, Copy)]
pub(super) struct Windows(pub(super) i64);

pub(super) struct Window {
    /// The start, in seconds since 1970.
    pub(super) start: i64,
    seconds: i64,
    /// The state that the last invocation returned.
    pub(super) state: Value,
    /// The failures of the window's last invocation.
    pub(super) failures: u64,
}

impl Windows {
    /// The start of this record's window. Without windows it is the same for all records.
    pub(super) fn start_of(self, record: &Record) -> i64 {
        let created = record.created.as_second();
        if self.0 == 0 { 0 } else { created - created.rem_euclid(self.0) }
    }

    /// A new window for this record, if there are windows.
    pub(super) fn open(self, record: &Record) -> Option<Window> {
        (self.0 > 0).then(|| Window { start: self.start_of(record), seconds: self.0, state: json!({}), failures: 0 })
    }
}

impl Window {
    /// Whether the window has no records that were not readable at this time.
    #[expect(clippy::cast_precision_loss, reason = "seconds of this age are far below 2^53")]
    pub(super) fn is_over(&self, at: Timestamp) -> bool {
        at.as_duration().as_secs_f64() >= (self.start + self.seconds) as f64 + LATE_SECONDS
    }

    /// Whether the window ended less than this many seconds ago.
    pub(super) fn is_younger_than(&self, seconds: u64) -> bool {
        let end = self.start.saturating_add(self.seconds);
        Timestamp::now().as_second() < end.saturating_add_unsigned(seconds)
    }

    /// Whether the state is larger than Lambda allows.
    pub(super) fn is_too_large(&self) -> bool {
        self.state.to_string().len() > MAX_STATE_BYTES
    }

    /// Continues with a fresh state.
    pub(super) fn begin_again(&mut self) {
        (self.state, self.failures) = (json!({}), 0);
    }

    /// The window as events contain it: its bounds in whole seconds.
    pub(super) fn bounds(&self) -> Value {
        let time = |second| Timestamp::from_second(second).map(|time| time.to_string()).ok();
        json!({ "start": time(self.start), "end": time(self.start + self.seconds) })
    }
}
