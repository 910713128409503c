//! A model of the table: marks and counters, which change together in one transaction.

use std::collections::BTreeMap;

use key_schema::value::SequenceNumber;

use crate::{Counts, Step};

/// What happens to a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// The request is done and answered.
    None,
    /// The request fails for good: throttled, or in conflict for too long.
    Failed,
    /// The request is lost, without an answer.
    CutBefore,
    /// The request is done, and its answer is lost.
    CutAfter,
    /// The request is not answered and arrives later, when another consumer may have made the same one.
    Late,
}

/// The table.
#[derive(Default)]
pub(super) struct Table {
    /// The marks, by the index of the shard.
    pub(super) marks: BTreeMap<usize, SequenceNumber>,
    pub(super) counts: Counts,
    late: Vec<(usize, Step)>,
}

impl Table {
    /// Commits one conditional transaction. If the condition fails, returns the actual mark.
    pub(super) fn commit(&mut self, shard: usize, step: &Step) -> Result<(), Option<SequenceNumber>> {
        let mark = self.marks.get(&shard);
        if mark != step.previous.as_ref() {
            return Err(mark.cloned());
        }
        self.marks.insert(shard, step.mark.clone());
        self.counts.add(&step.counts);
        Ok(())
    }

    /// Delays a transaction.
    pub(super) fn delay(&mut self, shard: usize, step: Step) {
        self.late.push((shard, step));
    }

    /// Commits one of the delayed transactions.
    pub(super) fn arrive(&mut self, which: usize) {
        if let Some(which) = which.checked_rem(self.late.len()) {
            let (shard, step) = self.late.swap_remove(which);
            _ = self.commit(shard, &step);
        }
    }

    /// Commits all delayed transactions.
    pub(super) fn arrive_all(&mut self) {
        (0..self.late.len()).for_each(|_| self.arrive(0));
    }
}
