//! A model of Lambda: the event source mapping and its concurrent consumers.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use key_schema::entity::ParkedCounts;
use key_schema::layout::{Key, Stored as _};
use key_schema::value::SequenceNumber;

use super::fold::Folders;
use super::shop::Stream;
use super::table::{Bug, Fault, Table, Transaction, parked_by};
use crate::{Batch, Counts, MOST_PARKED, Next};

/// The mark that a consumer is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hint {
    /// No mark.
    None,
    /// The state that the shard's last consumer returned.
    State,
    /// Any sequence number.
    Wrong(usize),
}

/// A consumer that is counting a batch.
struct Run {
    shard: usize,
    batch: Batch,
    /// The position that the event source reaches in the shard once the batch is done. `None` if the event source does
    /// not wait for this consumer.
    end: Option<usize>,
    /// The items that it has parked, by group.
    parked: BTreeMap<u8, HashSet<Key>>,
}

/// The event source's position in each shard, the consumers, and the table.
pub(super) struct Deliveries {
    pub(super) table: Table,
    pub(super) folders: Folders,
    most_counters: usize,
    runs: Vec<Run>,
    /// The position reached in each shard, and the state of its window.
    sources: Vec<(usize, Option<SequenceNumber>)>,
    /// The queue of lost records. A record that was sent twice is there once.
    pub(super) lost: BTreeSet<(usize, SequenceNumber)>,
}

impl Deliveries {
    pub(super) fn new(most_counters: usize, bug: Option<Bug>) -> Self {
        let folders = Folders::new(most_counters + 1);
        let table = Table::with(bug);
        Self { table, folders, most_counters, runs: Vec::new(), sources: Vec::new(), lost: BTreeSet::new() }
    }

    /// The event source delivers the next records of a shard, unless a consumer is still working on the previous ones.
    pub(super) fn deliver(&mut self, stream: &Stream, shard: usize, size: usize, hint: Hint) {
        let Some(shard) = shard.checked_rem(stream.shards.len()) else { return };
        if self.runs.iter().any(|run| run.shard == shard && run.end.is_some()) {
            return;
        }
        let from = self.source(shard).0;
        let range = from..stream.shards[shard].len().min(from + size);
        self.start(stream, shard, range, hint, true);
    }

    /// Any part of a shard is delivered, while other consumers may work on the shard. The part begins at or before the
    /// event source's position, because no delivery skips unanswered records.
    pub(super) fn replay(&mut self, stream: &Stream, shard: usize, from: usize, size: usize, hint: Hint) {
        let Some(shard) = shard.checked_rem(stream.shards.len()) else { return };
        let from = from % (self.source(shard).0 + 1);
        // A split batch may end anywhere. The rest of it is delivered another time.
        let range = from..stream.shards[shard].len().min(from + size);
        self.start(stream, shard, range, hint, false);
    }

    /// A consumer makes its next request.
    pub(super) fn go(&mut self, stream: &Stream, run: usize, fault: Fault) {
        let Some(at) = run.checked_rem(self.runs.len()) else { return };
        let Run { shard, batch, parked, .. } = &mut self.runs[at];
        let is_failed = matches!(fault, Fault::Failed);
        match batch.next() {
            Next::Done => self.answer(stream, at, true),
            Next::Mark | Next::Lines(_) | Next::GiveUp(_) if is_failed => self.answer(stream, at, false),
            Next::Mark => batch.found(self.table.marks.get(shard).cloned()),
            Next::Lines(orders) => {
                let orders: Vec<_> = orders.into_iter().cloned().collect();
                for order in orders {
                    let lines = stream.lines(&order);
                    batch.learn(order, lines);
                }
            }
            Next::Apply(step) => {
                assert!(step.parks || step.counts.len() <= self.most_counters, "{step:?}");
                for item in parked_by(*shard, &step) {
                    assert!(Counts::from(&item).len() <= MOST_PARKED, "{step:?}");
                    parked.entry(item.group).or_default().insert(item.key());
                }
                match fault {
                    Fault::None => match self.table.commit(*shard, &step) {
                        Ok(()) => batch.applied(step),
                        Err(mark) => batch.found(mark),
                    },
                    Fault::Failed => self.answer(stream, at, false),
                    Fault::CutBefore => {}
                    Fault::CutAfter => _ = self.table.commit(*shard, &step),
                    Fault::Late => self.table.delay(Transaction::Count(*shard, step)),
                }
            }
            Next::Fold => {
                let parked = std::mem::take(parked);
                for (group, items) in parked {
                    self.folders.fold(&self.table, group, items);
                }
                batch.folded();
            }
            Next::GiveUp(numbers) => {
                let numbers: Vec<_> = numbers.into_iter().cloned().collect();
                for number in numbers {
                    if self.table.bug != Some(Bug::PoisonIsForgotten) {
                        self.lost.insert((*shard, number.clone()));
                    }
                    // If the answer is lost, the consumer sends the record again.
                    if !matches!(fault, Fault::CutAfter) {
                        batch.give_up(number);
                    }
                }
            }
        }
    }

    /// A consumer's transaction conflicts with another one.
    pub(super) fn park(&mut self, run: usize) {
        if let Some(at) = run.checked_rem(self.runs.len()) {
            self.runs[at].batch.park();
        }
    }

    /// A consumer crashes and loses its memory.
    pub(super) fn crash(&mut self, run: usize) {
        if let Some(at) = run.checked_rem(self.runs.len()) {
            self.runs.swap_remove(at);
        }
    }

    /// The event source delivers every shard to its end, while delayed transactions arrive.
    pub(super) fn deliver_everything(&mut self, stream: &Stream) {
        for at in (0..self.runs.len()).rev() {
            if self.runs[at].end.is_some() {
                self.runs.swap_remove(at);
            }
        }
        for shard in 0..stream.shards.len() {
            self.deliver(stream, shard, 5, Hint::State);
            self.table.arrive(shard);
            while self.source(shard).0 < stream.shards[shard].len() {
                self.deliver(stream, shard, 5, Hint::State);
                // This includes consumers that the event source does not wait for.
                (0..self.runs.len()).rev().for_each(|run| self.go(stream, run, Fault::None));
            }
        }
        self.table.arrive_all();
        self.finish(stream);
    }

    /// Folds all that is parked, by whoever still folds, and then by a sweep.
    pub(super) fn fold_everything(&mut self) {
        self.folders.finish(&mut self.table);
        (0..ParkedCounts::GROUPS).for_each(|group| self.folders.sweep(group));
        self.folders.finish(&mut self.table);
    }

    /// Delivers every shard from its beginning, as if it had never been counted.
    pub(super) fn start_over(&mut self, stream: &Stream, hint: Hint) {
        for (shard, records) in stream.shards.iter().enumerate() {
            self.start(stream, shard, 0..records.len(), hint, false);
        }
        self.finish(stream);
    }

    /// Runs every consumer to its end.
    fn finish(&mut self, stream: &Stream) {
        while !self.runs.is_empty() {
            self.go(stream, 0, Fault::None);
        }
    }

    fn start(&mut self, stream: &Stream, shard: usize, range: Range<usize>, hint: Hint, is_awaited: bool) {
        let hint = match hint {
            Hint::None => None,
            Hint::State => self.source(shard).1.clone(),
            Hint::Wrong(which) => Some(stream.any_number(which)),
        };
        let end = is_awaited.then_some(range.end);
        let batch = Batch::new(stream.shards[shard].records(range), hint).with_most_counters(self.most_counters);
        self.runs.push(Run { shard, batch, end, parked: BTreeMap::new() });
    }

    /// A consumer returns: either its batch is done, or it reports the first record that is not counted.
    fn answer(&mut self, stream: &Stream, at: usize, is_done: bool) {
        let Run { shard, batch, end, parked } = self.runs.swap_remove(at);
        // Transactions that were not answered may have parked these, too.
        for (group, items) in parked {
            self.folders.fold(&self.table, group, items);
        }
        let Some(end) = end else { return };
        let source = self.source(shard);
        source.1 = batch.mark().cloned();
        match batch.first_left().filter(|_| !is_done) {
            Some(left) => source.0 = stream.shards[shard].index_of(left),
            None => source.0 = end,
        }
    }

    fn source(&mut self, shard: usize) -> &mut (usize, Option<SequenceNumber>) {
        if self.sources.len() <= shard {
            self.sources.resize(shard + 1, (0, None));
        }
        &mut self.sources[shard]
    }
}
