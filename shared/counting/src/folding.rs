//! Folding: adding the parked counts of a group to the counters, without I/O.

use std::collections::{HashSet, VecDeque};

use key_schema::entity::ParkedCounts;
use key_schema::layout::{Key, Stored as _};

use crate::Counts;

/// The content of one transaction: it adds the counts to the counters, and deletes the parked items on condition that
/// each exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    /// The sum of the parked counts.
    pub counts: Counts,
    /// The keys of the parked items.
    pub parked: Vec<Key>,
}

/// The next request of folding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Read the group's lease and [those of the awaited items](Folding::awaited) that exist, strongly consistent. Then
    /// call [`looked`](Folding::looked).
    Look,
    /// Wait a moment. Then call [`waited`](Folding::waited).
    Wait,
    /// Write the lease, if there is none or it is expired. Then call [`took`](Folding::took).
    Take,
    /// Read the oldest parked counts of the group, strongly consistent. Then call [`listed`](Folding::listed).
    List,
    /// Write this in one transaction. Then call [`folded`](Folding::folded).
    Fold(Fold),
    /// Delete the lease, if it is still this one. Then call [`released`](Folding::released).
    Release,
    /// Nothing: what was awaited is folded.
    Done,
}

/// The folding of one group by one consumer. The caller repeats: it asks for the [next](Self::next) request, makes it,
/// and reports the answer. It may drop the folding at any point: what is parked then waits for the next one, and a lease
/// expires.
#[derive(Clone, Debug)]
pub struct Folding {
    awaited: Vec<Key>,
    most_writes: usize,
    next: Work,
    planned: VecDeque<Fold>,
    has_lease: bool,
    is_stopped: bool,
}

impl Folding {
    /// The folding by a consumer that has parked these items of the group. A transaction has at most `most_writes`.
    pub fn of(awaited: impl IntoIterator<Item = Key>, most_writes: usize) -> Self {
        let awaited: Vec<_> = awaited.into_iter().collect();
        let next = if awaited.is_empty() { Work::Done } else { Work::Look };
        Self { awaited, most_writes, next, planned: VecDeque::new(), has_lease: false, is_stopped: false }
    }

    /// The folding of everything that is parked in the group, without a lease: whoever does it seldom disturbs nobody.
    pub fn of_everything(most_writes: usize) -> Self {
        Self { next: Work::List, ..Self::of([], most_writes) }
    }

    /// The next request.
    pub fn next(&self) -> Work {
        self.next.clone()
    }

    /// Whether this consumer has the lease, as far as it knows.
    pub fn has_lease(&self) -> bool {
        self.has_lease
    }

    /// The keys of the awaited items that may still be parked.
    pub fn awaited(&self) -> &[Key] {
        &self.awaited
    }

    /// Takes the keys of the awaited items that exist, and whether the lease is there to be taken.
    pub fn looked(&mut self, existing: &HashSet<Key>, is_lease_free: bool) {
        self.awaited.retain(|key| existing.contains(key));
        self.next = match (self.awaited.is_empty(), is_lease_free) {
            (true, _) => Work::Done,
            (false, true) => Work::Take,
            (false, false) => Work::Wait,
        };
    }

    /// Takes note that a moment is over.
    pub fn waited(&mut self) {
        self.next = Work::Look;
    }

    /// Takes the answer whether the lease is taken.
    pub fn took(&mut self, is_taken: bool) {
        (self.has_lease, self.is_stopped) = (is_taken, false);
        self.next = if is_taken { Work::List } else { Work::Wait };
    }

    /// Takes the parked counts, the oldest first, without those of a later layout.
    pub fn listed(&mut self, parked: &[ParkedCounts]) {
        self.planned = plan(parked, self.most_writes);
        self.next = self.planned.pop_front().map_or_else(|| self.end(), Work::Fold);
    }

    /// Takes the answer whether the transaction is written. If it is not, somebody else has folded a part of it.
    pub fn folded(&mut self, is_written: bool) {
        if !is_written {
            self.planned.clear();
        } else if let Work::Fold(fold) = &self.next {
            self.awaited.retain(|key| !fold.parked.contains(key));
        }
        self.next = match self.planned.pop_front() {
            _ if self.is_stopped => self.end(),
            Some(fold) => Work::Fold(fold),
            None => Work::List,
        };
    }

    /// Releases the lease after the next transaction, even if there is more to fold. If something that is awaited is
    /// left, this consumer and others compete for the lease again.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Takes note that the lease is released.
    pub fn released(&mut self) {
        self.has_lease = false;
        self.planned.clear();
        self.next = self.end();
    }

    /// What is left to do when nothing is left to fold.
    fn end(&self) -> Work {
        match (self.has_lease, self.awaited.is_empty()) {
            (true, _) => Work::Release,
            (false, true) => Work::Done,
            (false, false) => Work::Look,
        }
    }
}

/// Divides parked counts into transactions, in their order.
fn plan(parked: &[ParkedCounts], most_writes: usize) -> VecDeque<Fold> {
    let mut folds = VecDeque::new();
    let mut fold = Fold::default();
    for parked in parked {
        let counts = Counts::from(parked);
        let writes = fold.counts.len() + fold.counts.lacking(&counts).count() + fold.parked.len() + 1;
        if writes > most_writes && !fold.parked.is_empty() {
            folds.push_back(std::mem::take(&mut fold));
        }
        fold.counts.add(&counts);
        fold.parked.push(parked.key());
    }
    folds.extend(Some(fold).filter(|fold| !fold.parked.is_empty()));
    folds
}
