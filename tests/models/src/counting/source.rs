//! What Lambda knows of a shard.

use super::Place;

/// How far a shard is delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Source {
    /// The first record that was never delivered.
    pub(super) next: Place,
    /// Batches, or parts of them, that are to be delivered again. The last one is next.
    parts: Vec<(Place, Place)>,
    /// The state of the window: where the mark was after the last answer.
    pub(super) hint: Option<Place>,
}

impl Source {
    /// How many records the next batch may have. One that failed comes again as it is.
    pub(super) fn sizes(&self, len: Place) -> std::ops::RangeInclusive<Place> {
        match self.parts.last() {
            Some((from, to)) => to - from..=to - from,
            None => 1..=len - self.next,
        }
    }

    /// The next batch, of so many records.
    pub(super) fn take(&mut self, size: Place) -> (Place, Place) {
        self.parts.pop().unwrap_or_else(|| {
            let from = self.next;
            self.next += size;
            (from, self.next)
        })
    }

    /// Where the parts begin that are to be delivered again.
    pub(super) fn begins(&self) -> impl Iterator<Item = Place> {
        self.parts.iter().map(|(from, _)| *from)
    }

    /// These are to be delivered again.
    pub(super) fn again(&mut self, from: Place, to: Place) {
        self.parts.push((from, to));
    }

    /// The consumer of these died.
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
