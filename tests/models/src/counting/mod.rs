//! The counts: records of the table's stream on their way into the counters, by consumers that die, are late, or work
//! at the same records at once.
//!
//! A [`Stream`] is its records and what may go wrong. Its consumers ask [`counting::Batch`] for what is next, as
//! `count-orders` does. This module says what may happen between their steps, and what Lambda does with a batch.

mod scene;
mod source;
#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use counting::{Batch, Change, Counts, Next, Record, Step, Uncountable};
use key_schema::entity::OrderLine;
use key_schema::value::{OrderId, SequenceNumber};
use stateright::{Model, Property};

pub use self::scene::{large, small};
use self::source::Source;

/// A place in a shard: which of its records.
type Place = u8;

/// The records of a small stream, and what may happen to their deliveries.
pub struct Stream {
    /// A name for reports.
    pub name: &'static str,
    /// The records of each shard. The shards split and merge, so nothing orders them among each other.
    shards: Vec<Vec<Written>>,
    /// The sums of the first so many records of each shard.
    sums: Vec<Vec<Counts>>,
    /// The lines of every order.
    lines: Vec<(OrderId, Vec<OrderLine>)>,
    /// The most counters of one step.
    most_counters: usize,
    /// How often what may go wrong.
    left: Left,
    /// Whether a shard is delivered only after its parent, as Lambda does. The laws do not need that.
    parents_first: bool,
    /// What Lambda does with a batch whose consumer died.
    pub halves: Halves,
    /// A known bug, to see that the laws find it.
    bug: Option<Bug>,
}

/// A record; nobody can read one without a change.
struct Written {
    number: SequenceNumber,
    change: Option<Change>,
}

/// What Lambda does with a batch whose consumer died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// It delivers the batch again, as the template asks.
    Never,
    /// It delivers the first half, and then the second.
    InOrder,
    /// It delivers either half first.
    InAnyOrder,
}

/// Known bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A step is written wherever the mark is.
    MarkIsNotAsked,
    /// The counters are added to, and the mark is moved by a request of its own.
    MarkMovesLater,
    /// A record that cannot be counted is passed over before it is kept.
    PoisonIsForgotten,
}

/// How often something may still go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Left {
    /// A consumer dies.
    pub crashes: u8,
    /// A request fails, and its consumer says so.
    pub failures: u8,
    /// A request is done, and its answer is lost.
    pub lost_answers: u8,
    /// A transaction is not answered and arrives later, or never.
    pub late: u8,
    /// A batch is delivered once more, beside everything else.
    pub copies: u8,
}

/// Everything that tells one moment from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    sources: Vec<Source>,
    runs: Vec<Run>,
    marks: Vec<Option<Place>>,
    counts: Arc<Sums>,
    /// The records that the queue of lost records holds, as bits, by shard.
    lost: Vec<u8>,
    /// Transactions that nobody waits for any more.
    late: Vec<Late>,
    left: Left,
}

/// Counters, which compare and hash by their text.
#[derive(Clone, Debug)]
struct Sums {
    counts: Counts,
    text: String,
}

/// A consumer at work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Run {
    shard: u8,
    from: Place,
    to: Place,
    hint: Option<Place>,
    /// Where the mark was when it was last read or written; none before that.
    #[expect(clippy::option_option, reason = "a shard without a mark is not one whose mark was not read")]
    found: Option<Option<Place>>,
    has_lines: bool,
    given_up: u8,
    /// Whether the event source waits for its answer.
    is_awaited: bool,
}

/// A transaction on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Late {
    shard: u8,
    previous: Option<Place>,
    mark: Place,
    counts: Arc<Sums>,
}

/// What may happen next. Numbers are places in the lists of [`State`].
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Lambda delivers what comes next in a shard, of so many records.
    Deliver { shard: usize, size: Place, hinted: bool },
    /// Some batch that was delivered is delivered again, to somebody else.
    Copy { shard: usize, from: Place, to: Place },
    /// A consumer does what is next.
    Do(usize),
    /// Its request fails, and it answers that.
    Fail(usize),
    /// Its request is done, and it does not hear of that.
    Lose(usize),
    /// Its transaction is under way, and it asks again.
    Delay(usize),
    /// It dies. Whether Lambda then begins with the second half of its batch.
    Crash { run: usize, second_half_first: bool },
    /// A delayed transaction arrives.
    Arrive(usize),
}

impl PartialEq for Sums {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Sums {}

impl Hash for Sums {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Sums {
    fn new(counts: Counts) -> Arc<Self> {
        Arc::new(Self { text: format!("{counts:?}"), counts })
    }

    fn plus(&self, more: &Counts) -> Arc<Self> {
        let mut counts = self.counts.clone();
        counts.add(more);
        Self::new(counts)
    }
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
            counts: Sums::new(Counts::default()),
            lost: vec![0; shards],
            late: Vec::new(),
            left: self.left,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (shard, source) in state.sources.iter().enumerate() {
            let parent_is_done = shard == 0 || state.sources[shard - 1].is_done(self.len(shard - 1));
            if !state.awaits(shard) && (parent_is_done || !self.parents_first) {
                for size in source.sizes(self.len(shard)) {
                    actions.push(Action::Deliver { shard, size, hinted: true });
                    // A copy has no hint in any case.
                    if source.hint.is_some() && self.left.copies == 0 {
                        actions.push(Action::Deliver { shard, size, hinted: false });
                    }
                }
            }
            if state.left.copies > 0 {
                // No delivery leaves out what comes before it and was not answered.
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
            if state.left.crashes > 0 {
                actions.push(Action::Crash { run: at, second_half_first: false });
                if self.halves == Halves::InAnyOrder && run.is_awaited && run.to - run.from > 1 {
                    actions.push(Action::Crash { run: at, second_half_first: true });
                }
            }
        }
        actions.extend((0..state.late.len()).map(Action::Arrive));
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
            Action::Crash { run, second_half_first } => {
                state.left.crashes -= 1;
                let run = state.runs.remove(run);
                if run.is_awaited {
                    let source = &mut state.sources[usize::from(run.shard)];
                    source.failed(run.from, run.to, self.halves != Halves::Never, second_half_first);
                }
            }
            Action::Arrive(at) => {
                let late = state.late.swap_remove(at);
                self.commit(&mut state, &late);
            }
        }
        state.runs.sort();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "each counter is the sum of the records up to the marks",
                |model: &Self, state: &State| state.counts.counts == model.counts_up_to(&state.marks),
            ),
            Property::always(
                "no mark is past a record that is neither counted nor kept",
                |model: &Self, state: &State| {
                    let poisons = model.poisons();
                    poisons.into_iter().all(|(shard, place)| {
                        state.marks[shard].is_none_or(|mark| mark < place) || state.lost[shard] & (1 << place) != 0
                    })
                },
            ),
            Property::always("only records that nobody can read are given up", |model: &Self, state: &State| {
                let mut lost = vec![0; model.shards.len()];
                model.poisons().into_iter().for_each(|(shard, place)| lost[shard] |= 1 << place);
                lost.iter().zip(&state.lost).all(|(poisons, lost)| poisons & lost == *lost)
            }),
            Property::always("when everything is delivered, everything is counted", |model: &Self, state: &State| {
                !model.is_delivered(state) || model.is_counted(state)
            }),
            Property::eventually("everything is delivered and counted", |model: &Self, state: &State| {
                model.is_delivered(state) && model.is_counted(state)
            }),
        ]
    }
}

impl State {
    /// Whether the event source waits for somebody at work on this shard.
    fn awaits(&self, shard: usize) -> bool {
        self.runs.iter().any(|run| usize::from(run.shard) == shard && run.is_awaited)
    }

    /// The first record of the shard that no answer covers.
    fn answered(&self, shard: usize) -> Place {
        let waiting = self.runs.iter().filter(|run| usize::from(run.shard) == shard && run.is_awaited);
        let waiting = waiting.map(|run| run.from);
        waiting.chain(self.sources[shard].begins()).min().unwrap_or(self.sources[shard].next)
    }

    fn start(&mut self, shard: usize, from: Place, to: Place, hint: Option<Place>, is_awaited: bool) {
        let shard = u8::try_from(shard).unwrap_or(u8::MAX);
        self.runs.push(Run { shard, from, to, hint, found: None, has_lines: false, given_up: 0, is_awaited });
    }
}

impl Stream {
    fn len(&self, shard: usize) -> Place {
        u8::try_from(self.shards[shard].len()).unwrap_or(u8::MAX)
    }

    /// A consumer does what is next, and hears what came of it.
    fn go(&self, state: &mut State, at: usize) {
        let run = state.runs[at].clone();
        let shard = usize::from(run.shard);
        let batch = self.batch(&run);
        match batch.next() {
            Next::Done => self.answer(state, at),
            Next::Mark => state.runs[at].found = Some(state.marks[shard]),
            Next::Lines(_) => state.runs[at].has_lines = true,
            Next::GiveUp(numbers) => {
                let bits = numbers.iter().fold(0, |bits, number| bits | 1 << self.place(shard, number));
                if self.bug != Some(Bug::PoisonIsForgotten) {
                    state.lost[shard] |= bits;
                }
                state.runs[at].given_up |= bits;
            }
            Next::Apply(step) => {
                let late = self.late(run.shard, &step);
                let is_written = self.commit(state, &late);
                state.runs[at].found = Some(if is_written { Some(late.mark) } else { state.marks[shard] });
            }
        }
    }

    /// Writes a step, if the mark is where it must be.
    fn commit(&self, state: &mut State, step: &Late) -> bool {
        let shard = usize::from(step.shard);
        let is_asked = !matches!(self.bug, Some(Bug::MarkIsNotAsked | Bug::MarkMovesLater));
        if is_asked && state.marks[shard] != step.previous {
            return false;
        }
        state.counts = state.counts.plus(&step.counts.counts);
        if self.bug != Some(Bug::MarkMovesLater) {
            state.marks[shard] = Some(step.mark);
        }
        true
    }

    fn late(&self, shard: u8, step: &Step) -> Late {
        let place = |number| self.place(usize::from(shard), number);
        let previous = step.previous.as_ref().map(place);
        Late { shard, previous, mark: place(&step.mark), counts: Sums::new(step.counts.clone()) }
    }

    /// A consumer answers: from where on its batch is to come again, if it is.
    fn answer(&self, state: &mut State, at: usize) {
        let run = state.runs.remove(at);
        if !run.is_awaited {
            return;
        }
        let batch = self.batch(&run);
        let shard = usize::from(run.shard);
        let source = &mut state.sources[shard];
        source.hint = batch.mark().map(|number| self.place(shard, number));
        if batch.next() != Next::Done
            && let Some(left) = batch.first_left()
        {
            source.again(self.place(shard, left), run.to);
        }
    }

    /// What a consumer holds, made from what it knows.
    fn batch(&self, run: &Run) -> Batch {
        let shard = &self.shards[usize::from(run.shard)];
        let number = |place: Place| shard[usize::from(place)].number.clone();
        let records = shard[usize::from(run.from)..usize::from(run.to)].iter().map(|written| Record {
            number: written.number.clone(),
            change: written.change.clone().ok_or(Uncountable::UnreadableLines),
        });
        let mut batch = Batch::new(records.collect(), run.hint.map(number)).with_most_counters(self.most_counters);
        if run.has_lines {
            for (order, lines) in &self.lines {
                batch.learn(order.clone(), lines.clone());
            }
        }
        for place in (run.from..run.to).filter(|place| run.given_up & (1 << place) != 0) {
            batch.give_up(number(place));
        }
        if let Some(mark) = run.found {
            batch.found(mark.map(number));
        }
        batch
    }

    fn place(&self, shard: usize, number: &SequenceNumber) -> Place {
        let place = self.shards[shard].iter().position(|written| written.number == *number);
        place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
    }

    /// The records that nobody can read.
    fn poisons(&self) -> Vec<(usize, Place)> {
        let mut poisons = Vec::new();
        for (shard, records) in self.shards.iter().enumerate() {
            let unreadable = records.iter().zip(0..).filter(|(written, _)| written.change.is_none());
            poisons.extend(unreadable.map(|(_, place)| (shard, place)));
        }
        poisons
    }

    fn counts_up_to(&self, marks: &[Option<Place>]) -> Counts {
        let mut counts = Counts::default();
        for (sums, mark) in self.sums.iter().zip(marks) {
            counts.add(&sums[mark.map_or(0, |mark| usize::from(mark) + 1)]);
        }
        counts
    }

    fn is_delivered(&self, state: &State) -> bool {
        let is_read = |(shard, source): (usize, &Source)| source.is_done(self.len(shard)) && !state.awaits(shard);
        state.sources.iter().enumerate().all(is_read)
    }

    fn is_counted(&self, state: &State) -> bool {
        let mut all = Counts::default();
        self.sums.iter().filter_map(|sums| sums.last()).for_each(|sum| all.add(sum));
        let is_kept = |(shard, place): (usize, Place)| state.lost[shard] & (1 << place) != 0;
        state.counts.counts == all && self.poisons().into_iter().all(is_kept)
    }
}
