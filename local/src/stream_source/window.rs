//! A tumbling window: the invocations of some seconds, which hand their state on.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::record::Record;

/// More than this ends a window early: 1 MB.
const MAX_STATE_BYTES: usize = 1024 * 1024;

/// How long after its end a window waits for writes that were stamped within it. AWS waits up to two minutes.
const LATE_SECONDS: f64 = 0.5;

/// Windows of this many seconds, each beginning at a multiple of them.
#[derive(Clone, Copy)]
pub(super) struct Windows(pub(super) i64);

pub(super) struct Window {
    /// In seconds since 1970.
    pub(super) start: i64,
    seconds: i64,
    /// What the last invocation answered.
    pub(super) state: Value,
    /// How often the invocation that ends it has failed.
    pub(super) failures: u64,
}

impl Windows {
    /// When the window of this record begins. All are in one if there are no windows.
    pub(super) fn start_of(self, record: &Record) -> i64 {
        let created = record.created.as_second();
        if self.0 == 0 { 0 } else { created - created.rem_euclid(self.0) }
    }

    /// The window of this record, fresh, if there are windows.
    pub(super) fn open(self, record: &Record) -> Option<Window> {
        (self.0 > 0).then(|| Window { start: self.start_of(record), seconds: self.0, state: json!({}), failures: 0 })
    }
}

impl Window {
    /// Whether no record of it can come that was not there at this time.
    #[expect(clippy::cast_precision_loss, reason = "seconds of this age are far below 2^53")]
    pub(super) fn is_over(&self, at: Timestamp) -> bool {
        at.as_duration().as_secs_f64() >= (self.start + self.seconds) as f64 + LATE_SECONDS
    }

    /// Whether it ended less than so many seconds ago.
    pub(super) fn is_younger_than(&self, seconds: u64) -> bool {
        let end = self.start.saturating_add(self.seconds);
        Timestamp::now().as_second() < end.saturating_add_unsigned(seconds)
    }

    /// Whether the state is more than Lambda hands on.
    pub(super) fn is_too_large(&self) -> bool {
        self.state.to_string().len() > MAX_STATE_BYTES
    }

    /// Goes on with a fresh state.
    pub(super) fn begin_again(&mut self) {
        (self.state, self.failures) = (json!({}), 0);
    }

    /// What an event says about it: its bounds in whole seconds.
    pub(super) fn bounds(&self) -> Value {
        let time = |second| Timestamp::from_second(second).map(|time| time.to_string()).ok();
        json!({ "start": time(self.start), "end": time(self.start + self.seconds) })
    }
}
