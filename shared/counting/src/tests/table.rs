//! A model of the table: marks and counters, which change together or not at all.

use std::collections::BTreeMap;

use key_schema::value::SequenceNumber;

use crate::{Counts, Step};

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// It is done and answered.
    Done,
    /// It is refused, for good: throttled, or in conflict for too long.
    Failed,
    /// It is lost on its way, and nobody knows.
    CutBefore,
    /// It is done, and the answer is lost.
    CutAfter,
    /// It is lost for now and arrives later, when somebody else may have done the same.
    Late,
}

/// The table.
#[derive(Default)]
pub(super) struct Table {
    /// By the index of the shard.
    pub(super) marks: BTreeMap<usize, SequenceNumber>,
    pub(super) counts: Counts,
    late: Vec<(usize, Step)>,
}

impl Table {
    /// One conditional transaction; or where the mark is instead.
    pub(super) fn commit(&mut self, shard: usize, step: &Step) -> Result<(), Option<SequenceNumber>> {
        let mark = self.marks.get(&shard);
        if mark != step.previous.as_ref() {
            return Err(mark.cloned());
        }
        self.marks.insert(shard, step.mark.clone());
        self.counts.add(&step.counts);
        Ok(())
    }

    /// A transaction is on its way.
    pub(super) fn delay(&mut self, shard: usize, step: Step) {
        self.late.push((shard, step));
    }

    /// One that is on its way arrives.
    pub(super) fn arrive(&mut self, which: usize) {
        if let Some(which) = which.checked_rem(self.late.len()) {
            let (shard, step) = self.late.swap_remove(which);
            _ = self.commit(shard, &step);
        }
    }

    /// All that are on their way arrive.
    pub(super) fn arrive_all(&mut self) {
        (0..self.late.len()).for_each(|_| self.arrive(0));
    }
}
