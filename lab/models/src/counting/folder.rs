//! The consumers that fold parked counts, one transaction at a time.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use counting::{Counts, Fold, Folding, Step, Work};
use key_schema::entity::ParkedCounts;
use key_schema::layout::{Key, Stored as _};
use key_schema::value::{ShardId, Timestamp};

use super::{Action, Bug, State, Stream, Sums};

/// The most writes of a transaction: one folds the counts of two steps, and several fold those of all.
const MOST_WRITES: usize = 5;

/// A parked item, compared and hashed by its key.
#[derive(Clone, Debug)]
pub(super) struct Parked {
    key: String,
    pub(super) item: Arc<ParkedCounts>,
}

/// A consumer that folds a group, compared and hashed by its text.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    group: u8,
    folding: Folding,
    text: String,
}

/// A transaction in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LateFold {
    keys: Vec<Key>,
    counts: Arc<Sums>,
}

impl PartialEq for Parked {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Parked {}

impl Ord for Parked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Parked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Parked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl PartialEq for Folder {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Folder {}

impl Hash for Folder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Parked {
    /// The items that a step parks. A step from another record on to the same mark has the same keys and other counts.
    #[expect(clippy::expect_used, reason = "constants")]
    pub(super) fn of(shard: u8, step: &Step) -> Vec<Self> {
        let shard: ShardId = format!("shardId-{shard}").parse().expect("a shard");
        let parked_at: Timestamp = "2026-11-21T09:30:00Z".parse().expect("a time");
        let items = step.parked(&shard, parked_at).into_iter();
        items.map(|item| Self { key: format!("{item:?}"), item: Arc::new(item) }).collect()
    }
}

impl Folder {
    fn new(group: u8, folding: Folding) -> Self {
        Self { group, text: format!("{group} {folding:?}"), folding }
    }
}

impl Stream {
    pub(super) fn actions_of_folders(state: &State, actions: &mut Vec<Action>) {
        let groups: BTreeSet<_> = state.parked.iter().map(|parked| parked.item.group).collect();
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
                let items = state.parked.iter().map(|parked| &*parked.item).filter(|item| item.group == group);
                let listed: Vec<_> = items.cloned().collect();
                let mut folding = Folding::of_everything(MOST_WRITES);
                folding.listed(&listed);
                state.folders.push(Folder::new(group, folding));
            }
            Action::Fold(at) => {
                let Folder { group, mut folding, .. } = state.folders.swap_remove(at);
                if let Work::Fold(fold) = folding.next() {
                    let is_written = self.fold(state, &fold.into());
                    folding.folded(is_written);
                }
                // Then it would list again, as anybody may.
                if matches!(folding.next(), Work::Fold(_)) {
                    state.folders.push(Folder::new(group, folding));
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
        state.folders.sort_by(|a, b| a.text.cmp(&b.text));
    }

    /// Writes a fold, if everything that it folds is still parked.
    fn fold(&self, state: &mut State, fold: &LateFold) -> bool {
        let is_parked = |key: &Key| state.parked.iter().any(|parked| parked.item.key() == *key);
        if self.bug != Some(Bug::ParkedIsNotAsked) && !fold.keys.iter().all(is_parked) {
            return false;
        }
        state.counts = state.counts.plus(&fold.counts.counts);
        if self.bug != Some(Bug::ParkedIsDeletedLater) {
            state.parked.retain(|parked| !fold.keys.contains(&parked.item.key()));
        }
        true
    }
}

impl From<Fold> for LateFold {
    fn from(fold: Fold) -> Self {
        Self { keys: fold.parked, counts: Sums::new(fold.counts) }
    }
}

impl State {
    /// The counters and the parked counts together.
    pub(super) fn sum(&self) -> Counts {
        let mut sum = self.counts.counts.clone();
        self.parked.iter().for_each(|parked| sum.add(&(&*parked.item).into()));
        sum
    }
}
