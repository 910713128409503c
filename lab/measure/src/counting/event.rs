//! Events in the order of time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens to a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// The event source looks for records.
    Poll,
    /// The consumer makes the next request of its batch.
    Count,
    /// The consumer makes the next request of folding a group.
    Fold(u8),
}

/// Something that happens to a consumer at a time, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) at: f64,
    pub(super) consumer: usize,
    pub(super) happening: Happening,
    number: u64,
}

/// The events to come.
#[derive(Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Event>>,
    added: u64,
}

impl Events {
    pub(super) fn add(&mut self, at: f64, consumer: usize, happening: Happening) {
        self.added += 1;
        self.heap.push(Reverse(Event { at, consumer, happening, number: self.added }));
    }

    /// The next event, if there is one before this time.
    pub(super) fn next_before(&mut self, end: f64) -> Option<Event> {
        self.heap.peek().filter(|Reverse(event)| event.at < end)?;
        self.heap.pop().map(|Reverse(event)| event)
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}
