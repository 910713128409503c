//! Lambda's state of a shard.

use super::Place;

/// The delivery state of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Source {
    /// The first record that was never delivered.
    pub(super) next: Place,
    /// The batch, or a part of it, that will be delivered again.
    part: Option<(Place, Place)>,
    /// The window's state: the checkpoint after the last answer.
    pub(super) hint: Option<Place>,
}

impl Source {
    /// The possible sizes of the next batch. A failed batch is retried unchanged.
    pub(super) fn sizes(&self, len: Place) -> std::ops::RangeInclusive<Place> {
        match self.part {
            Some((from, to)) => to - from..=to - from,
            None => 1..=len - self.next,
        }
    }

    /// Takes the next batch, of this size.
    pub(super) fn take(&mut self, size: Place) -> (Place, Place) {
        self.part.take().unwrap_or_else(|| {
            let from = self.next;
            self.next += size;
            (from, self.next)
        })
    }

    /// The beginning of the part that will be delivered again.
    pub(super) fn begins(&self) -> Option<Place> {
        self.part.map(|(from, _)| from)
    }

    /// Adds records that will be delivered again.
    pub(super) fn again(&mut self, from: Place, to: Place) {
        self.part = Some((from, to));
    }

    /// Whether everything is delivered.
    pub(super) fn is_done(&self, len: Place) -> bool {
        self.next == len && self.part.is_none()
    }
}
