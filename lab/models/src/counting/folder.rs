//! The consumers that fold parked counts, one transaction at a time.

use std::collections::BTreeSet;

use counting::{Counts, Fold, Folding, Step, Work};
use key_schema::entity::ParkedCounts;
use key_schema::layout::{Key, Stored as _};
use key_schema::value::{ShardId, Timestamp};

use super::{Action, Bug, State, Stream};
use crate::table::Digested;

/// The most writes of a transaction: one folds the counts of two steps, and several fold those of all.
const MOST_WRITES: usize = 5;

/// A consumer that folds a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Folder {
    group: u8,
    folding: Digested<Folding>,
}

/// A transaction in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LateFold {
    keys: Vec<Key>,
    counts: Digested<Counts>,
}

/// The items that a step parks. A step from another record on to the same mark has the same keys and other counts.
#[expect(clippy::expect_used, reason = "constants")]
pub(super) fn parked(shard: u8, step: &Step) -> Vec<Digested<ParkedCounts>> {
    let shard: ShardId = format!("shardId-{shard}").parse().expect("a shard");
    let parked_at: Timestamp = "2026-11-21T09:30:00Z".parse().expect("a time");
    step.parked(&shard, parked_at).into_iter().map(Digested::new).collect()
}

impl Stream {
    pub(super) fn actions_of_folders(state: &State, actions: &mut Vec<Action>) {
        let groups: BTreeSet<_> = state.parked.iter().map(|parked| parked.group).collect();
        for group in groups {
            let is_folded = state.folders.iter().any(|folder| folder.group == group);
            if !is_folded || state.left.folders > 0 {
                actions.push(Action::BeginToFold(group));
            }
        }
        for at in 0..state.folders.len() {
            actions.push(Action::Fold(at));
            if state.left.lost_answers > 0 {
                actions.push(Action::LoseFold(at));
            }
            if state.left.late > 0 {
                actions.push(Action::DelayFold(at));
            }
            if state.left.crashes > 0 {
                actions.push(Action::CrashFolder(at));
            }
        }
        actions.extend((0..state.late_folds.len()).map(Action::ArriveFold));
    }

    pub(super) fn next_of_folders(&self, state: &mut State, action: &Action) {
        match *action {
            Action::BeginToFold(group) => {
                let is_folded = state.folders.iter().any(|folder| folder.group == group);
                state.left.folders -= u8::from(is_folded);
                let of_group = state.parked.iter().filter(|parked| parked.group == group);
                let listed: Vec<_> = of_group.map(|parked| ParkedCounts::clone(parked)).collect();
                let mut folding = Folding::of_everything(MOST_WRITES);
                folding.listed(&listed);
                state.folders.push(Folder { group, folding: Digested::new(folding) });
            }
            Action::Fold(at) => {
                let Folder { group, folding } = state.folders.swap_remove(at);
                let mut folding = Folding::clone(&folding);
                if let Work::Fold(fold) = folding.next() {
                    let is_written = self.fold(state, &fold.into());
                    folding.folded(is_written);
                }
                // Then it would list again, as anybody may.
                if matches!(folding.next(), Work::Fold(_)) {
                    state.folders.push(Folder { group, folding: Digested::new(folding) });
                }
            }
            Action::LoseFold(at) => {
                state.left.lost_answers -= 1;
                if let Work::Fold(fold) = state.folders[at].folding.next() {
                    self.fold(state, &fold.into());
                }
            }
            Action::DelayFold(at) => {
                state.left.late -= 1;
                if let Work::Fold(fold) = state.folders[at].folding.next() {
                    state.late_folds.push(fold.into());
                }
            }
            Action::CrashFolder(at) => {
                state.left.crashes -= 1;
                state.folders.swap_remove(at);
            }
            Action::ArriveFold(at) => {
                let late = state.late_folds.swap_remove(at);
                self.fold(state, &late);
            }
            _ => {}
        }
        state.folders.sort_by_key(|folder| (folder.group, folder.folding.digest()));
    }

    /// Writes a fold, if everything that it folds is still parked.
    fn fold(&self, state: &mut State, fold: &LateFold) -> bool {
        let is_parked = |key: &Key| state.parked.iter().any(|parked| parked.key() == *key);
        if self.bug != Some(Bug::ParkedIsNotAsked) && !fold.keys.iter().all(is_parked) {
            return false;
        }
        state.count(&fold.counts);
        if self.bug != Some(Bug::ParkedIsDeletedLater) {
            state.parked.retain(|parked| !fold.keys.contains(&parked.key()));
        }
        true
    }
}

impl From<Fold> for LateFold {
    fn from(fold: Fold) -> Self {
        Self { keys: fold.parked, counts: Digested::new(fold.counts) }
    }
}

impl State {
    /// The counters and the parked counts together.
    pub(super) fn sum(&self) -> Counts {
        let mut sum = Counts::clone(&self.counts);
        self.parked.iter().for_each(|parked| sum.add(&(&**parked).into()));
        sum
    }
}
