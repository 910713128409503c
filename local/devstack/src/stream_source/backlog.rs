//! Records that were read from a shard and are not processed yet, and the batches in which they will be delivered.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::record::Record;
use super::window::Windows;
use crate::sandbox::MAX_EVENT_BYTES;
use crate::template::StreamSource;

pub(super) struct Backlog {
    batch_size: usize,
    batching_window: Duration,
    maximum_age: SignedDuration,
    windows: Windows,
    /// The start of the stack. A record's age is counted from here at the earliest, so that records do not expire while
    /// the laptop is off.
    started: Timestamp,
    records: VecDeque<Record>,
    /// The time at which the current batch began to gather.
    since: Instant,
    /// Parts of failed batches, which are delivered before all other records. The last part is next.
    parts: Vec<Part>,
    /// The retries of the first record, if it failed and newer records may join its batch.
    carried: Option<u64>,
}

/// The first records of the backlog, which are delivered together.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) len: usize,
    /// The number of retries so far.
    pub(super) retries: u64,
}

impl Backlog {
    pub(super) fn new(source: &StreamSource, windows: Windows) -> Self {
        Self {
            batch_size: usize::try_from(source.batch_size).unwrap_or(usize::MAX),
            batching_window: Duration::from_secs(source.batching_window_seconds),
            maximum_age: SignedDuration::from_secs(source.maximum_record_age_seconds.try_into().unwrap_or(i64::MAX)),
            windows,
            started: Timestamp::now(),
            records: VecDeque::new(),
            since: Instant::now(),
            parts: Vec::new(),
            carried: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn first(&self) -> Option<&Record> {
        self.records.front()
    }

    /// The first `len` records.
    pub(super) fn records(&self, len: usize) -> impl Iterator<Item = &Record> {
        self.records.iter().take(len)
    }

    /// The record after this part.
    pub(super) fn behind(&self, part: Part) -> Option<&Record> {
        self.records.get(part.len)
    }

    /// Whether the backlog is smaller than a batch.
    pub(super) fn has_room(&self) -> bool {
        self.records.len() < self.batch_size
    }

    pub(super) fn extend(&mut self, records: Vec<Record>) {
        if self.records.is_empty() {
            self.since = Instant::now();
        }
        self.records.extend(records);
    }

    /// Whether a batch is due: it is full, its batching window is over, or it is a retry.
    pub(super) fn is_due(&self, hurry: bool) -> bool {
        if self.records.is_empty() {
            return false;
        }
        let again = self.carried.is_some() || !self.parts.is_empty();
        let len = self.batch_len();
        let full = len == self.batch_size || len < self.records.len();
        again || hurry || full || self.since.elapsed() >= self.batching_window
    }

    /// The next part to deliver. The caller must call [`done`](Self::done) for it, or put it back.
    pub(super) fn take_part(&mut self) -> Part {
        let carried = self.carried.take();
        self.parts.pop().unwrap_or_else(|| Part { len: self.batch_len(), retries: carried.unwrap_or_default() })
    }

    /// Puts a part back unchanged, to be delivered before everything else.
    pub(super) fn put_back(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// Puts the rest of a part back. Newer records may join it, unless another part of its batch follows.
    pub(super) fn put_back_rest(&mut self, part: Part) {
        if self.parts.is_empty() {
            self.carried = Some(part.retries);
        } else {
            self.parts.push(part);
        }
    }

    /// Removes the first `len` records, which are processed.
    pub(super) fn done(&mut self, len: usize) {
        self.records.drain(..len);
        self.since = Instant::now();
    }

    /// Removes the records of the next part that are too old. These are always its first records.
    pub(super) fn take_aged(&mut self) -> (Part, Vec<Record>) {
        let now = Timestamp::now();
        let age = |record: &Record| now.duration_since(record.created.max(self.started));
        let too_old = |record: &&Record| age(record) > self.maximum_age;
        let next = self.parts.last().copied();
        let next = next.unwrap_or(Part { len: self.records.len(), retries: self.carried.unwrap_or_default() });
        let len = self.records(next.len).take_while(too_old).count();
        if let Some(mut part) = self.parts.pop() {
            part.len -= len;
            self.parts.extend((part.len > 0).then_some(part));
        } else if len > 0 {
            self.carried = None;
        }
        (Part { len, ..next }, self.records.drain(..len).collect())
    }

    /// The length of the next batch, limited by the batch size, the tumbling window and the event's size in bytes.
    fn batch_len(&self) -> usize {
        let Some(first) = self.first() else { return 0 };
        let window = self.windows.start_of(first);
        let mut bytes = 0;
        let fitting = self.records(self.batch_size).take_while(|record| {
            bytes += record.event.to_string().len();
            self.windows.start_of(record) == window && bytes <= MAX_EVENT_BYTES
        });
        fitting.count().max(1)
    }
}
