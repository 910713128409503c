//! A batch of a shard's records, from its delivery until it is counted.

use std::collections::BTreeMap;

use key_schema::entity::{Order, OrderLine};
use key_schema::value::{OrderId, SequenceNumber};

use crate::{Change, Counts, Uncountable};

/// The most counters of one step: a transaction holds 100 items, and one of them is the checkpoint. The most that
/// one record adds to is a customer, a day and the 40 products of an order.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>
pub const MOST_COUNTERS: usize = 99;

/// A record of the stream.
#[derive(Debug)]
pub struct Record {
    /// Its place in the shard.
    pub number: SequenceNumber,
    /// What it means.
    pub change: Result<Change, Uncountable>,
}

/// A batch that is being counted. Ask it what is [next](Self::next), do that, and tell it what came of it; until it
/// is done, or until something fails, when the batch may be dropped at any point.
#[derive(Debug)]
pub struct Batch {
    records: Vec<Record>,
    mark: Option<SequenceNumber>,
    /// Whether the mark was read or written, and is not only a hint.
    is_mark_known: bool,
    lines: BTreeMap<OrderId, Vec<OrderLine>>,
    most_counters: usize,
    progress: Progress,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many of its records were counted.
    pub applied: usize,
    /// How many had been counted before.
    pub skipped: usize,
    /// In how many transactions.
    pub steps: usize,
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub enum Next<'a> {
    /// Read the shard's checkpoint, strongly, and say where its mark [is](Batch::found).
    Mark,
    /// Read the lines of these orders, strongly, and [learn](Batch::learn) them.
    Lines(Vec<&'a OrderId>),
    /// Write this in one transaction: the new mark under the condition that the mark is the previous one, and what
    /// is added to each counter. Then say that it is [applied](Batch::applied), or where the mark
    /// [is](Batch::found) if it was another one. If nobody answers, ask for what is next: the same step, which can
    /// happen only once.
    Apply(Step),
    /// This record cannot be counted. Everything before it is.
    Stuck(&'a SequenceNumber),
    /// Everything is counted.
    Done,
}

/// What one transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where the mark must be; none if the shard has no checkpoint.
    pub previous: Option<SequenceNumber>,
    /// Where it is then: at the last record of this step.
    pub mark: SequenceNumber,
    /// What is added to the counters.
    pub counts: Counts,
    /// How many records that is.
    pub records: usize,
}

impl Batch {
    /// A batch as it was delivered, and where the shard's mark is said to be, if anybody says so.
    pub fn new(mut records: Vec<Record>, hint: Option<SequenceNumber>) -> Self {
        records.sort_by(|a, b| a.number.cmp(&b.number));
        Self {
            records,
            mark: hint,
            is_mark_known: false,
            lines: BTreeMap::new(),
            most_counters: MOST_COUNTERS,
            progress: Progress::default(),
        }
    }

    /// The same in smaller steps.
    #[cfg(test)]
    pub(crate) fn with_most_counters(self, most_counters: usize) -> Self {
        Self { most_counters, ..self }
    }

    /// What to do next.
    ///
    /// A hint that leaves out no record needs no look at the checkpoint: the first step's condition is that it is
    /// right. A hint that would leave one out is not believed.
    ///
    /// What comes to nothing is not written, and the mark stays: to count nothing again costs nothing.
    pub fn next(&self) -> Next<'_> {
        let Some(first) = self.records.first() else { return Next::Done };
        if !self.is_mark_known && self.mark.as_ref().is_none_or(|mark| first.number <= *mark) {
            return Next::Mark;
        }
        let mut lines_to_read = Vec::new();
        let mut step =
            Step { previous: self.mark.clone(), mark: first.number.clone(), counts: Counts::default(), records: 0 };
        let mut stuck = None;
        for record in self.left() {
            let Ok(change) = &record.change else {
                stuck = Some(&record.number);
                break;
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
            let counts = change.counts(lines);
            if step.counts.len() + step.counts.growth(&counts) > self.most_counters && !step.counts.is_empty() {
                break;
            }
            step.counts.add(&counts);
            step.mark = record.number.clone();
            step.records += 1;
        }
        match stuck {
            _ if !lines_to_read.is_empty() => Next::Lines(lines_to_read),
            _ if !step.counts.is_empty() => Next::Apply(step),
            Some(stuck) => Next::Stuck(stuck),
            None => Next::Done,
        }
    }

    /// The checkpoint holds this mark, or there is no checkpoint.
    pub fn found(&mut self, mark: Option<SequenceNumber>) {
        (self.mark, self.is_mark_known) = (mark, true);
        let counted = self.records.len() - self.left().count();
        self.progress.skipped = counted.saturating_sub(self.progress.applied);
    }

    /// These are the lines of an order that was called off.
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

    /// The step is written.
    pub fn applied(&mut self, step: Step) {
        self.progress.applied += step.records;
        self.progress.steps += 1;
        self.found(Some(step.mark));
    }

    /// Where the shard's mark is, as far as is known here: a hint for the next batch.
    pub fn mark(&self) -> Option<&SequenceNumber> {
        self.mark.as_ref()
    }

    /// The first record that may not be counted: from there on the shard is to be delivered again after a failure.
    pub fn first_left(&self) -> Option<&SequenceNumber> {
        if self.is_mark_known { self.left().next() } else { self.records.first() }.map(|record| &record.number)
    }

    /// The first record as it was delivered.
    pub fn first(&self) -> Option<&SequenceNumber> {
        self.records.first().map(|record| &record.number)
    }

    /// Why this record cannot be counted, if it cannot.
    pub fn reason(&self, number: &SequenceNumber) -> Option<&Uncountable> {
        self.records.iter().find(|record| record.number == *number)?.change.as_ref().err()
    }

    /// What became of the batch so far.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The records after the mark.
    fn left(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| self.mark.as_ref().is_none_or(|mark| record.number > *mark))
    }
}
