//! Consumers that fold parked counts.

use std::collections::HashSet;

use key_schema::entity::ParkedCounts;
use key_schema::layout::Key;

use super::table::{Fault, Table, Transaction};
use crate::{Folding, Work};

/// A consumer that folds a group.
struct Run {
    /// A number that no other run has.
    id: usize,
    group: u8,
    folding: Folding,
    /// The items that were parked when it began: they are folded when it is done. The others may arrive later.
    parked: HashSet<Key>,
}

pub(super) struct Folders {
    runs: Vec<Run>,
    most_writes: usize,
    started: usize,
}

impl Folders {
    pub(super) fn new(most_writes: usize) -> Self {
        Self { runs: Vec::new(), most_writes, started: 0 }
    }

    /// A consumer that has parked these items folds them, or waits until they are folded.
    pub(super) fn fold(&mut self, table: &Table, group: u8, awaited: HashSet<Key>) {
        let parked = table.keys(group).intersection(&awaited).cloned().collect();
        self.start(Run { id: 0, group, folding: Folding::of(awaited, self.most_writes), parked });
    }

    /// Somebody folds everything, without a lease.
    pub(super) fn sweep(&mut self, group: u8) {
        let group = group % ParkedCounts::GROUPS;
        let folding = Folding::of_everything(self.most_writes);
        self.start(Run { id: 0, group, folding, parked: HashSet::new() });
    }

    fn start(&mut self, run: Run) {
        self.started += 1;
        self.runs.push(Run { id: self.started, ..run });
    }

    /// A consumer makes its next request.
    pub(super) fn go(&mut self, table: &mut Table, which: usize, fault: Fault) {
        let Some(at) = which.checked_rem(self.runs.len()) else { return };
        if matches!(fault, Fault::Failed) {
            return self.crash(at);
        }
        let Run { id, group, folding, parked } = &mut self.runs[at];
        let is_done = !matches!(fault, Fault::CutBefore);
        let is_answered = matches!(fault, Fault::None);
        match folding.next() {
            Work::Done => {
                assert!(parked.is_disjoint(&table.keys(*group)), "what it has parked is folded");
                self.runs.swap_remove(at);
            }
            Work::Wait => folding.waited(),
            Work::Look => folding.looked(&table.keys(*group), !table.leases.contains_key(group)),
            Work::List => folding.listed(&table.list(*group)),
            Work::Take => {
                let is_taken = is_done && !table.leases.contains_key(group);
                if is_taken {
                    table.leases.insert(*group, *id);
                }
                // An unanswered request counts as one that failed: the lease, if it was taken, expires.
                folding.took(is_taken && is_answered);
            }
            Work::Release => {
                if is_done && table.leases.get(group) == Some(id) {
                    table.leases.remove(group);
                }
                folding.released();
            }
            Work::Fold(fold) => {
                let writes = fold.counts.len() + fold.parked.len();
                assert!(writes <= self.most_writes || fold.parked.len() == 1, "{writes} writes");
                match fault {
                    Fault::Late => table.delay(Transaction::Fold(fold)),
                    _ if is_done => {
                        let is_written = table.fold(&fold);
                        if is_answered {
                            folding.folded(is_written);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// A consumer has no more time to fold what others have parked.
    pub(super) fn stop(&mut self, which: usize) {
        if let Some(at) = which.checked_rem(self.runs.len()) {
            self.runs[at].folding.stop();
        }
    }

    pub(super) fn crash(&mut self, which: usize) {
        if let Some(at) = which.checked_rem(self.runs.len()) {
            self.runs.swap_remove(at);
        }
    }

    /// Runs every consumer to its end, while leases expire.
    pub(super) fn finish(&mut self, table: &mut Table) {
        let mut requests = 0;
        while !self.runs.is_empty() {
            table.leases.clear();
            self.go(table, requests, Fault::None);
            requests += 1;
            assert!(requests < 100_000, "folding ends");
        }
    }
}
