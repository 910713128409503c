//! Counting a batch of a shard's records, without I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use key_schema::entity::{Order, OrderLine, ParkedCounts};
use key_schema::layout::MOST_ACTIONS;
use key_schema::value::{OrderId, SequenceNumber, ShardId, Timestamp, Zone};

use crate::{Aggregate, Change, Counts, Uncountable};

/// The most counters that one step changes: one action of its transaction writes the checkpoint. One record changes at most
/// 42 counters: those of a customer, a day and the 40 products of an order. An imported order may have 200 products.
pub const MOST_COUNTERS: usize = MOST_ACTIONS - 1;

/// The most counters of one item that a step parks. The counters and the deletion of the item must fit into one
/// transaction. During a migration it does each write in both tables.
pub const MOST_PARKED: usize = MOST_ACTIONS / 2 - 1;

/// The number of parked steps after which a consumer folds them, or waits until they are folded. Otherwise many shards
/// that catch up would park far more than is folded meanwhile, and take the capacity from the shop.
pub const MOST_UNFOLDED: usize = 4;

/// The time for which a consumer parks from the beginning after two conflicts. A conflict costs a whole transaction, and it
/// shows that other shards are counted at the same time.
pub const PARKED_FOR: Duration = Duration::from_mins(1);

/// A record of the stream.
#[derive(Debug)]
pub struct Record {
    /// The record's position in the shard.
    pub number: SequenceNumber,
    /// The record's meaning, or the reason why it can never be counted.
    pub change: Result<Change, Uncountable>,
}

/// A batch that is being counted. The caller repeats: it asks for the [next](Self::next) request, makes it, and reports
/// the answer. It may drop the batch at any point, for example after an error.
#[derive(Debug)]
pub struct Batch {
    records: Vec<Record>,
    mark: Option<SequenceNumber>,
    /// Whether the mark was read or written. Otherwise it is only a hint.
    is_mark_known: bool,
    lines: BTreeMap<OrderId, Vec<OrderLine>>,
    /// The uncountable records that the queue of lost records has accepted.
    given_up: BTreeSet<SequenceNumber>,
    most_counters: usize,
    zone: Zone,
    /// Whether a step met another transaction.
    has_met: bool,
    /// Whether further steps are parked.
    parks: bool,
    /// The number of parked steps that may not be folded.
    unfolded: usize,
    progress: Progress,
}

/// The numbers of a batch's records by what happened to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of records that this batch counted.
    pub applied: usize,
    /// The number of records that were counted or given up before.
    pub skipped: usize,
    /// The number of records that this batch gave up.
    pub given_up: usize,
    /// The number of transactions that this batch took.
    pub steps: usize,
    /// The number of these that parked their counts.
    pub parked: usize,
}

/// The next request to make.
#[derive(Debug, PartialEq)]
pub enum Next<'a> {
    /// Read the mark in the shard's checkpoint, strongly consistent. Then call [`found`](Batch::found).
    Mark,
    /// Read the lines of these orders, strongly consistent. Then call [`learn`](Batch::learn) for each order.
    Lines(Vec<&'a OrderId>),
    /// Write this in one transaction: the new mark, on condition that the old one is `previous`, and the additions to
    /// the counters, or the [parked](Step::parked) counts if the step is one to park. Then call
    /// [`applied`](Batch::applied); or, if the condition failed, [`found`](Batch::found) with the actual mark. If the
    /// transaction conflicted with another one, call [`met_another`](Batch::met_another). If there is no answer, call
    /// [`next`](Batch::next) again. It returns the same step, which can only happen once.
    Apply(Step),
    /// Fold what this batch has parked, or wait until it is folded: [`Folding`](crate::Folding). Then call
    /// [`folded`](Batch::folded), even if that did not succeed: the parked counts are not lost.
    Fold,
    /// Send these records to the queue of lost records: they can never be counted, and everything before them is
    /// counted. Then call [`give_up`](Batch::give_up) for each record that the queue accepted. Only then does the mark
    /// move past it. A record may be sent twice.
    GiveUp(Vec<&'a SequenceNumber>),
    /// Nothing: everything is counted.
    Done,
}

/// The content of one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The mark that the checkpoint must have. `None` if the shard must have no checkpoint.
    pub previous: Option<SequenceNumber>,
    /// The new mark: the last record of this step.
    pub mark: SequenceNumber,
    /// The additions to the counters.
    pub counts: Counts,
    /// The number of records that this step counts.
    pub records: usize,
    /// The number of given-up records over which this step moves the mark.
    pub given_up: usize,
    /// These records: the first and the last one of each sequence of them.
    pub passed: Vec<(SequenceNumber, SequenceNumber)>,
    /// Whether the counts are parked, and not added to the counters.
    pub parks: bool,
}

/// The sizes of a step under way.
struct Room {
    most: usize,
    /// The number of counters, in each group if the step is parked. No more than these: amounts that add up to zero
    /// are left out.
    counters: Vec<usize>,
    parks: bool,
}

impl Room {
    fn new(most_counters: usize, parks: bool) -> Self {
        let most = if parks { most_counters.min(MOST_PARKED) } else { most_counters };
        let groups = if parks { ParkedCounts::GROUPS.into() } else { 1 };
        Self { most, counters: vec![0; groups], parks }
    }

    /// Adds these further counters. Returns whether there was room for them.
    fn takes<'a>(&mut self, further: impl Iterator<Item = &'a Aggregate>) -> bool {
        for aggregate in further {
            self.counters[if self.parks { usize::from(aggregate.group()) } else { 0 }] += 1;
        }
        self.counters.iter().all(|counters| *counters <= self.most)
    }
}

impl Step {
    fn from(previous: Option<SequenceNumber>, mark: SequenceNumber, parks: bool) -> Self {
        Self { previous, mark, counts: Counts::default(), records: 0, given_up: 0, passed: Vec::new(), parks }
    }

    /// The counts to park, one item for each group. Of a large record, a group may have an item in each of its lists. None
    /// if the step is not one to park.
    ///
    /// `parked_at` is a time that is the same for each attempt of the step.
    pub fn parked(&self, shard: &ShardId, parked_at: Timestamp) -> Vec<ParkedCounts> {
        let groups = if self.parks { self.counts.clone().by_group() } else { BTreeMap::new() };
        let mut items = Vec::new();
        for (group, counts) in groups {
            let most = counts.len().div_ceil(ParkedCounts::LISTS.into()).max(MOST_PARKED);
            for (list, counts) in (shard.spread(ParkedCounts::LISTS)..).zip(counts.in_parts(most)) {
                let (customers, products, days) = counts.into_entities();
                items.push(ParkedCounts {
                    group,
                    list: list % ParkedCounts::LISTS,
                    parked_at,
                    shard_id: shard.clone(),
                    mark: self.mark.clone(),
                    layout: ParkedCounts::LAYOUT,
                    customers,
                    products,
                    days,
                });
            }
        }
        items
    }

    /// Moves the mark past a record that was given up.
    fn pass(&mut self, number: &SequenceNumber) {
        match self.passed.last_mut() {
            Some((_, last)) if *last == self.mark => *last = number.clone(),
            _ => self.passed.push((number.clone(), number.clone())),
        }
        self.mark = number.clone();
        self.given_up += 1;
    }

    /// Whether there is nothing to write: no counter changes, and no given-up record is passed.
    fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.given_up == 0
    }
}

impl Batch {
    /// A batch as it was delivered. `hint` is the shard's mark according to the consumer's window state or memory.
    pub fn new(mut records: Vec<Record>, hint: Option<SequenceNumber>) -> Self {
        records.sort_by(|a, b| a.number.cmp(&b.number));
        Self {
            records,
            mark: hint,
            is_mark_known: false,
            lines: BTreeMap::new(),
            given_up: BTreeSet::new(),
            most_counters: MOST_COUNTERS,
            zone: Zone::UTC,
            has_met: false,
            parks: false,
            unfolded: 0,
            progress: Progress::default(),
        }
    }

    /// The batch with smaller steps: during a migration a transaction writes each counter in both tables, and tests and
    /// models see more steps.
    #[must_use]
    pub fn with_most_counters(self, most_counters: usize) -> Self {
        Self { most_counters, ..self }
    }

    /// The batch of a shop in this zone, whose days are counted.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// Takes note that a step met another transaction. The first time, the step is tried again after a pause, because two
    /// transactions may meet by chance. The second time, further steps are [parked](Self::park).
    pub fn met_another(&mut self) {
        self.parks |= self.has_met;
        self.has_met = true;
    }

    /// Parks the counts of all further steps: nobody else writes what such a step writes, so it conflicts with no other
    /// shard's step, whatever the number of shards.
    pub fn park(&mut self) {
        self.parks = true;
    }

    /// Whether further steps are parked.
    pub fn parks(&self) -> bool {
        self.parks
    }

    /// The next request.
    ///
    /// If the hint lies before all records, the checkpoint is not read: the first step's condition verifies the hint.
    /// If the hint would skip a record, or a record is to be given up, the checkpoint is read.
    ///
    /// A batch with no net effect leaves the checkpoint alone: replaying it is free. But the mark always moves past a
    /// record that was given up. Otherwise a later release might count it after an operator has repaired the counters.
    pub fn next(&self) -> Next<'_> {
        let Some(first) = self.records.first() else { return Next::Done };
        match self.next_of_records(first) {
            Next::Done if self.unfolded > 0 => Next::Fold,
            Next::Apply(_) if self.unfolded >= MOST_UNFOLDED => Next::Fold,
            next => next,
        }
    }

    fn next_of_records(&self, first: &Record) -> Next<'_> {
        if !self.is_mark_known && self.mark.as_ref().is_none_or(|mark| first.number <= *mark) {
            return Next::Mark;
        }
        let mut lines_to_read = Vec::new();
        let mut uncountable = Vec::new();
        let mut step = Step::from(self.mark.clone(), first.number.clone(), self.parks);
        let mut room = Room::new(self.most_counters, self.parks);
        for record in self.left() {
            let change = match &record.change {
                Err(_) if self.given_up.contains(&record.number) && uncountable.is_empty() => {
                    step.pass(&record.number);
                    continue;
                }
                Err(_) if step.is_empty() && !self.given_up.contains(&record.number) => {
                    uncountable.push(&record.number);
                    continue;
                }
                Err(_) => break,
                Ok(_) if !uncountable.is_empty() => break,
                Ok(change) => change,
            };
            let lines = match change.called_off().map(|order| (&order.order_id, self.lines.get(&order.order_id))) {
                Some((order, None)) => {
                    lines_to_read.push(order);
                    continue;
                }
                Some((_, Some(lines))) => lines.as_slice(),
                None => &[],
            };
            if !lines_to_read.is_empty() {
                continue;
            }
            let counts = change.counts(lines, &self.zone);
            if step.counts.is_empty() && counts.len() > self.most_counters {
                // An imported order with many credits. No transaction changes as many counters as this record alone.
                (step.parks, room) = (true, Room::new(self.most_counters, true));
            }
            if !room.takes(step.counts.lacking(&counts)) && !step.counts.is_empty() {
                break;
            }
            step.counts.add(&counts);
            step.mark = record.number.clone();
            step.records += 1;
        }
        if !lines_to_read.is_empty() {
            Next::Lines(lines_to_read)
        } else if !step.is_empty() {
            Next::Apply(step)
        } else if uncountable.is_empty() {
            Next::Done
        } else if self.is_mark_known {
            Next::GiveUp(uncountable)
        } else {
            Next::Mark
        }
    }

    /// Takes the mark in the checkpoint; `None` if there is no checkpoint.
    pub fn found(&mut self, mark: Option<SequenceNumber>) {
        (self.mark, self.is_mark_known) = (mark, true);
        let counted = self.records.len() - self.left().count();
        self.progress.skipped = counted.saturating_sub(self.progress.applied + self.progress.given_up);
    }

    /// Takes the lines of a cancelled order.
    pub fn learn(&mut self, order: OrderId, lines: Vec<OrderLine>) {
        for record in &mut self.records {
            let called_off = record.change.as_ref().ok().and_then(Change::called_off);
            let count = |header: &Order| (header.order_id == order).then_some(header.line_count);
            if let Some(expected) = called_off.and_then(count).filter(|count| usize::from(*count) != lines.len()) {
                record.change = Err(Uncountable::Lines { found: lines.len(), expected });
            }
        }
        self.lines.insert(order, lines);
    }

    /// Takes note that the lines of a cancelled order cannot be deserialized, now or later.
    pub fn cannot_learn(&mut self, order: &OrderId) {
        for record in &mut self.records {
            if record.change.as_ref().ok().and_then(Change::called_off).is_some_and(|header| header.order_id == *order)
            {
                record.change = Err(Uncountable::UnreadableLines);
            }
        }
    }

    /// Takes note that the queue of lost records has accepted this record.
    pub fn give_up(&mut self, number: SequenceNumber) {
        self.given_up.insert(number);
    }

    /// Takes note that the parked counts are folded, or that they are left to others.
    pub fn folded(&mut self) {
        self.unfolded = 0;
    }

    /// Takes note that the step is written.
    pub fn applied(&mut self, step: Step) {
        self.progress.applied += step.records;
        self.progress.given_up += step.given_up;
        self.progress.steps += 1;
        self.progress.parked += usize::from(step.parks);
        self.unfolded += usize::from(step.parks);
        self.found(Some(step.mark));
    }

    /// The first record of the batch, counted or not.
    pub fn first(&self) -> Option<&SequenceNumber> {
        self.records.first().map(|record| &record.number)
    }

    /// The shard's mark, as far as this batch knows it: a hint for the next batch.
    pub fn mark(&self) -> Option<&SequenceNumber> {
        self.mark.as_ref()
    }

    /// The first record that may not be counted yet. After a failure, Lambda must deliver the shard again from there.
    pub fn first_left(&self) -> Option<&SequenceNumber> {
        if self.is_mark_known { self.left().next() } else { self.records.first() }.map(|record| &record.number)
    }

    /// The reason why this record cannot be counted; `None` if it can.
    pub fn reason(&self, number: &SequenceNumber) -> Option<&Uncountable> {
        self.records.iter().find(|record| record.number == *number)?.change.as_ref().err()
    }

    /// The progress so far.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The records after the mark.
    fn left(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| self.mark.as_ref().is_none_or(|mark| record.number > *mark))
    }
}
