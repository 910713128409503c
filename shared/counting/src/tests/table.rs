//! A model of the table: marks, counters and parked counts, which change together in one transaction.

use std::collections::{BTreeMap, HashSet};

use key_schema::entity::ParkedCounts;
use key_schema::layout::{Key, Stored};
use key_schema::value::{SequenceNumber, ShardId, Timestamp};

use crate::{Counts, Fold, Step};

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

/// A bug that the invariants must find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bug {
    /// A step is written without a condition on the mark.
    MarkIsNotAsked,
    /// The mark is moved in a separate request after the counters.
    MarkMovesLater,
    /// An unreadable record is skipped before it is sent to the queue of lost records.
    PoisonIsForgotten,
    /// Parked counts are added to the counters without a condition that they are still parked.
    ParkedIsNotAsked,
    /// Parked counts are deleted in a separate request after the counters.
    ParkedIsDeletedLater,
    /// Counts are parked in a separate request after the mark.
    ParkedAfterTheMark,
}

impl Bug {
    pub(super) const ALL: [Self; 6] = [
        Self::MarkIsNotAsked,
        Self::MarkMovesLater,
        Self::PoisonIsForgotten,
        Self::ParkedIsNotAsked,
        Self::ParkedIsDeletedLater,
        Self::ParkedAfterTheMark,
    ];
}

#[derive(Default)]
pub(super) struct Table {
    pub(super) bug: Option<Bug>,
    /// The marks, by the index of the shard.
    pub(super) marks: BTreeMap<usize, SequenceNumber>,
    pub(super) counts: Counts,
    /// The parked counts, by key: the group, the list, the shard and the mark.
    pub(super) parked: BTreeMap<(String, String), ParkedCounts>,
    /// The holders of the groups' leases.
    pub(super) leases: BTreeMap<u8, usize>,
    late: Vec<Transaction>,
}

#[derive(Clone, Debug)]
pub(super) enum Transaction {
    Count(usize, Step),
    Fold(Fold),
}

pub(super) fn parked_by(shard: usize, step: &Step) -> Vec<ParkedCounts> {
    let shard: ShardId = format!("shardId-{shard}").parse().expect("a shard");
    let parked_at: Timestamp = "2026-11-21T09:30:00Z".parse().expect("a time");
    step.parked(&shard, parked_at)
}

fn text(key: &Key) -> (String, String) {
    (key.partition.clone(), key.sort.clone())
}

impl Table {
    pub(super) fn with(bug: Option<Bug>) -> Self {
        Self { bug, ..Self::default() }
    }

    /// Commits one conditional transaction. If the condition fails, returns the actual mark.
    pub(super) fn commit(&mut self, shard: usize, step: &Step) -> Result<(), Option<SequenceNumber>> {
        let mark = self.marks.get(&shard);
        if self.bug != Some(Bug::MarkIsNotAsked) && mark != step.previous.as_ref() {
            return Err(mark.cloned());
        }
        if self.bug != Some(Bug::MarkMovesLater) {
            self.marks.insert(shard, step.mark.clone());
        }
        for parked in parked_by(shard, step).into_iter().filter(|_| self.bug != Some(Bug::ParkedAfterTheMark)) {
            let before = self.parked.insert(text(&parked.key()), parked);
            assert_eq!(before, None, "each item is parked once");
        }
        if !step.parks {
            self.counts.add(&step.counts);
        }
        Ok(())
    }

    /// Commits a fold, if all of its parked counts exist.
    pub(super) fn fold(&mut self, fold: &Fold) -> bool {
        let keys: Vec<_> = fold.parked.iter().map(text).collect();
        let are_parked = keys.iter().all(|key| self.parked.contains_key(key));
        if !are_parked && self.bug != Some(Bug::ParkedIsNotAsked) {
            return false;
        }
        if self.bug != Some(Bug::ParkedIsDeletedLater) {
            self.parked.retain(|key, _| !keys.contains(key));
        }
        self.counts.add(&fold.counts);
        true
    }

    pub(super) fn keys(&self, group: u8) -> HashSet<Key> {
        self.list(group).iter().map(Stored::key).collect()
    }

    pub(super) fn list(&self, group: u8) -> Vec<ParkedCounts> {
        self.parked.values().filter(|parked| parked.group == group).cloned().collect()
    }

    /// The counters and all parked counts together.
    pub(super) fn sum(&self) -> Counts {
        let mut sum = self.counts.clone();
        self.parked.values().for_each(|parked| sum.add(&parked.into()));
        sum
    }

    pub(super) fn delay(&mut self, transaction: Transaction) {
        self.late.push(transaction);
    }

    /// Commits one of the delayed transactions.
    pub(super) fn arrive(&mut self, which: usize) {
        if let Some(which) = which.checked_rem(self.late.len()) {
            match self.late.swap_remove(which) {
                Transaction::Count(shard, step) => _ = self.commit(shard, &step),
                Transaction::Fold(fold) => _ = self.fold(&fold),
            }
        }
    }

    /// Commits all delayed transactions.
    pub(super) fn arrive_all(&mut self) {
        (0..self.late.len()).for_each(|_| self.arrive(0));
    }
}
