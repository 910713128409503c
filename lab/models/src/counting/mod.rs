//! A model of counting: consumers that crash, are late, or process the same records concurrently count the records of
//! the table's stream.
//!
//! A [`Stream`] has records and possible faults. Its consumers drive [`counting::Batch`] and [`counting::Folding`], as
//! `count-orders` does. This module defines the events between their steps, and Lambda's handling of batches.

mod consumer;
mod folder;
mod invariants;
mod scene;
mod source;
#[cfg(test)]
mod tests;

use counting::{Change, Counts, Next};
use key_schema::entity::{OrderLine, ParkedCounts};
use key_schema::value::{OrderId, SequenceNumber};
use stateright::{Model, Property};

use self::folder::{Folder, LateFold};
pub use self::scene::{large, small};
use self::source::Source;
use crate::table::Digested;

/// A position in a shard: the number of a record.
type Place = u8;

/// The records of a small stream, and the possible faults of their deliveries.
pub struct Stream {
    /// A name for reports.
    pub name: &'static str,
    /// The records of each shard. Shards split and merge, so their records have no order between them.
    shards: Vec<Vec<Written>>,
    /// For each shard, the sums of its first records, by their number.
    sums: Vec<Vec<Counts>>,
    /// The lines of every order.
    lines: Vec<(OrderId, Vec<OrderLine>)>,
    most_counters: usize,
    /// The number of possible faults of each kind.
    left: Left,
    /// Whether a shard is delivered only after its parent, as Lambda does. The invariants do not need that.
    parents_first: bool,
    /// A planted bug that the invariants must find.
    bug: Option<Bug>,
}

/// A record. One without a change is unreadable.
struct Written {
    number: SequenceNumber,
    change: Option<Change>,
}

/// Known bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A step is written without a condition on the checkpoint.
    MarkIsNotAsked,
    /// The checkpoint is moved in a separate request after the counters.
    MarkMovesLater,
    /// An unreadable record is skipped before it is sent to the queue of lost records.
    PoisonIsForgotten,
    /// Parked counts are added to the counters without a condition that they are still parked.
    ParkedIsNotAsked,
    /// Parked counts are deleted in a separate request after the counters.
    ParkedIsDeletedLater,
    /// Counts are parked in a separate request after the checkpoint.
    ParkedAfterTheMark,
}

/// The remaining faults of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Left {
    pub crashes: u8,
    /// A request fails, and the consumer reports the failure.
    pub failures: u8,
    /// A request takes effect, and its answer is lost.
    pub lost_answers: u8,
    /// A transaction is not answered, and takes effect later or never.
    pub late: u8,
    /// A duplicate of a batch is delivered.
    pub copies: u8,
    /// A consumer's transaction conflicts with another one, so that it parks.
    pub conflicts: u8,
    /// A second consumer folds a group at the same time.
    pub folders: u8,
}

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    sources: Vec<Source>,
    runs: Vec<Run>,
    marks: Vec<Option<Place>>,
    counts: Digested<Counts>,
    /// The parked counts, sorted.
    parked: Vec<Digested<ParkedCounts>>,
    folders: Vec<Folder>,
    /// The records in the queue of lost records, as bits, by shard.
    lost: Vec<u8>,
    /// Unanswered transactions that may still take effect.
    late: Vec<Late>,
    late_folds: Vec<LateFold>,
    left: Left,
}

/// A running consumer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Run {
    shard: u8,
    from: Place,
    to: Place,
    hint: Option<Place>,
    /// The checkpoint when it was last read or written. `None` before that.
    #[expect(clippy::option_option, reason = "a shard without a mark is not one whose mark was not read")]
    found: Option<Option<Place>>,
    has_lines: bool,
    given_up: u8,
    parks: bool,
    /// Whether the event source waits for its answer. It does not for a duplicate.
    is_awaited: bool,
}

/// A transaction in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Late {
    shard: u8,
    previous: Option<Place>,
    mark: Place,
    counts: Digested<Counts>,
    parked: Option<Vec<Digested<ParkedCounts>>>,
}

/// A possible next event. Numbers are positions in the lists of [`State`].
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Lambda delivers the next batch of a shard, of this size.
    Deliver { shard: usize, size: Place, hinted: bool },
    /// A delivered batch is also delivered to another consumer.
    Copy { shard: usize, from: Place, to: Place },
    /// A consumer sends its next request.
    Do(usize),
    /// The consumer's request fails, and it reports the failure.
    Fail(usize),
    /// The consumer's request takes effect, and the answer is lost.
    Lose(usize),
    /// The consumer's transaction is delayed, and it retries.
    Delay(usize),
    /// The consumer crashes. Lambda delivers the whole batch again: the template does not bisect.
    Crash(usize),
    /// A delayed transaction takes effect.
    Arrive(usize),
    /// The consumer's transaction conflicts with another one, and it parks.
    Conflict(usize),
    /// A consumer lists the parked counts of a group.
    BeginToFold(u8),
    /// A consumer that folds sends its next transaction.
    Fold(usize),
    /// The transaction takes effect, and the answer is lost.
    LoseFold(usize),
    /// The transaction is delayed, and the consumer sends it again.
    DelayFold(usize),
    /// The consumer crashes.
    CrashFolder(usize),
    /// A delayed transaction that folds takes effect.
    ArriveFold(usize),
}

impl Model for Stream {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let shards = self.shards.len();
        vec![State {
            sources: vec![Source::default(); shards],
            runs: Vec::new(),
            marks: vec![None; shards],
            counts: Digested::new(Counts::default()),
            parked: Vec::new(),
            folders: Vec::new(),
            lost: vec![0; shards],
            late: Vec::new(),
            late_folds: Vec::new(),
            left: self.left,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (shard, source) in state.sources.iter().enumerate() {
            let parent_is_done = shard == 0 || state.sources[shard - 1].is_done(self.len(shard - 1));
            if !state.awaits(shard) && (parent_is_done || !self.parents_first) {
                for size in source.sizes(self.len(shard)) {
                    actions.push(Action::Deliver { shard, size, hinted: true });
                    // A duplicate never has a hint.
                    if source.hint.is_some() && self.left.copies == 0 {
                        actions.push(Action::Deliver { shard, size, hinted: false });
                    }
                }
            }
            if state.left.copies > 0 {
                // No delivery begins after a record that was not answered.
                let answered = state.answered(shard);
                let copies = (0..=answered).flat_map(|from| (from + 1..=source.next).map(move |to| (from, to)));
                actions.extend(copies.map(|(from, to)| Action::Copy { shard, from, to }));
            }
        }
        for (at, run) in state.runs.iter().enumerate() {
            actions.push(Action::Do(at));
            let batch = self.batch(run);
            let next = batch.next();
            if state.left.failures > 0 && next != Next::Done {
                actions.push(Action::Fail(at));
            }
            if state.left.lost_answers > 0 && matches!(next, Next::Apply(_) | Next::GiveUp(_)) {
                actions.push(Action::Lose(at));
            }
            if state.left.late > 0 && matches!(next, Next::Apply(_)) {
                actions.push(Action::Delay(at));
            }
            if state.left.conflicts > 0 && !run.parks && matches!(next, Next::Apply(_)) {
                actions.push(Action::Conflict(at));
            }
            if state.left.crashes > 0 {
                actions.push(Action::Crash(at));
            }
        }
        actions.extend((0..state.late.len()).map(Action::Arrive));
        Self::actions_of_folders(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut state = state.clone();
        match action {
            Action::Deliver { shard, size, hinted } => {
                let source = &mut state.sources[shard];
                let (from, to) = source.take(size);
                let hint = source.hint.filter(|_| hinted);
                state.start(shard, from, to, hint, true);
            }
            Action::Copy { shard, from, to } => {
                state.left.copies -= 1;
                state.start(shard, from, to, None, false);
            }
            Action::Do(at) => self.go(&mut state, at),
            Action::Fail(at) => {
                state.left.failures -= 1;
                self.answer(&mut state, at);
            }
            Action::Lose(at) => {
                state.left.lost_answers -= 1;
                let before = state.runs[at].clone();
                self.go(&mut state, at);
                state.runs[at] = before;
            }
            Action::Delay(at) => {
                state.left.late -= 1;
                let run = &state.runs[at];
                let batch = self.batch(run);
                let Next::Apply(step) = batch.next() else { return None };
                let late = self.late(run.shard, &step);
                state.late.push(late);
            }
            Action::Crash(run) => {
                state.left.crashes -= 1;
                let run = state.runs.remove(run);
                if run.is_awaited {
                    state.sources[usize::from(run.shard)].again(run.from, run.to);
                }
            }
            Action::Arrive(at) => {
                let late = state.late.swap_remove(at);
                self.commit(&mut state, &late);
            }
            Action::Conflict(at) => {
                state.left.conflicts -= 1;
                state.runs[at].parks = true;
            }
            action => self.next_of_folders(&mut state, &action),
        }
        state.runs.sort();
        state.parked.sort_by_key(Digested::digest);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        invariants::all()
    }
}

impl State {
    /// Whether the event source waits for a consumer of this shard.
    fn awaits(&self, shard: usize) -> bool {
        self.runs.iter().any(|run| usize::from(run.shard) == shard && run.is_awaited)
    }

    /// The first unanswered record of the shard.
    fn answered(&self, shard: usize) -> Place {
        let waiting = self.runs.iter().filter(|run| usize::from(run.shard) == shard && run.is_awaited);
        let waiting = waiting.map(|run| run.from);
        waiting.chain(self.sources[shard].begins()).min().unwrap_or(self.sources[shard].next)
    }

    fn count(&mut self, more: &Counts) {
        let mut counts = Counts::clone(&self.counts);
        counts.add(more);
        self.counts = Digested::new(counts);
    }

    fn start(&mut self, shard: usize, from: Place, to: Place, hint: Option<Place>, is_awaited: bool) {
        let shard = u8::try_from(shard).unwrap_or(u8::MAX);
        self.runs.push(Run {
            shard,
            from,
            to,
            hint,
            found: None,
            has_lines: false,
            given_up: 0,
            parks: false,
            is_awaited,
        });
    }
}

impl Stream {
    fn len(&self, shard: usize) -> Place {
        u8::try_from(self.shards[shard].len()).unwrap_or(u8::MAX)
    }

    fn place(&self, shard: usize, number: &SequenceNumber) -> Place {
        let place = self.shards[shard].iter().position(|written| written.number == *number);
        place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
    }
}
