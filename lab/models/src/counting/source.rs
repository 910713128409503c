//! Lambda's state of a shard.

use super::Place;

/// The delivery state of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Source {
    /// The first record that was never delivered.
    pub(super) next: Place,
    /// Batches, or parts of them, that will be delivered again. The last one is next.
    parts: Vec<(Place, Place)>,
    /// The window's state: the checkpoint after the last answer.
    pub(super) hint: Option<Place>,
}

impl Source {
    /// The possible sizes of the next batch. A failed batch is retried unchanged.
    pub(super) fn sizes(&self, len: Place) -> std::ops::RangeInclusive<Place> {
        match self.parts.last() {
            Some((from, to)) => to - from..=to - from,
            None => 1..=len - self.next,
        }
    }

    /// Takes the next batch, of this size.
    pub(super) fn take(&mut self, size: Place) -> (Place, Place) {
        self.parts.pop().unwrap_or_else(|| {
            let from = self.next;
            self.next += size;
            (from, self.next)
        })
    }

    /// The beginnings of the parts that will be delivered again.
    pub(super) fn begins(&self) -> impl Iterator<Item = Place> {
        self.parts.iter().map(|(from, _)| *from)
    }

    /// Adds records that will be delivered again.
    pub(super) fn again(&mut self, from: Place, to: Place) {
        self.parts.push((from, to));
    }

    /// Handles a crash of the consumer of these records.
    pub(super) fn failed(&mut self, from: Place, to: Place, is_halved: bool, second_half_first: bool) {
        let middle = from + (to - from) / 2;
        if !is_halved || middle == from {
            self.again(from, to);
        } else if second_half_first {
            self.parts.extend([(from, middle), (middle, to)]);
        } else {
            self.parts.extend([(middle, to), (from, middle)]);
        }
    }

    /// Whether everything is delivered.
    pub(super) fn is_done(&self, len: Place) -> bool {
        self.next == len && self.parts.is_empty()
    }
}
