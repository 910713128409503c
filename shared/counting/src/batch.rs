//! A batch of a shard's records, from its delivery until it is counted.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The uncountable records that somebody else has taken.
    given_up: BTreeSet<SequenceNumber>,
    most_counters: usize,
    progress: Progress,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many of its records were counted.
    pub applied: usize,
    /// How many had been counted or given up before.
    pub skipped: usize,
    /// How many were given up.
    pub given_up: usize,
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
    /// These records can never be counted, and everything before them is counted. Hand each to a place where it is kept,
    /// and say that it is [given up](Batch::give_up): only then does the mark move past it. Handing the same record over
    /// twice must do no harm.
    GiveUp(Vec<&'a SequenceNumber>),
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
    /// How many records it passes over, because they were given up.
    pub given_up: usize,
}

impl Step {
    fn from(previous: Option<SequenceNumber>, mark: SequenceNumber) -> Self {
        Self { previous, mark, counts: Counts::default(), records: 0, given_up: 0 }
    }

    /// Whether there is nothing to write: no counter changes, and no record is passed over.
    fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.given_up == 0
    }
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
            given_up: BTreeSet::new(),
            most_counters: MOST_COUNTERS,
            progress: Progress::default(),
        }
    }

    /// The same in smaller steps, so that tests and models see many.
    #[must_use]
    pub fn with_most_counters(self, most_counters: usize) -> Self {
        Self { most_counters, ..self }
    }

    /// What to do next.
    ///
    /// A hint that leaves out no record needs no look at the checkpoint: the first step's condition is that it is
    /// right. A hint that would leave one out is not believed, and no record is given up by a hint.
    ///
    /// A batch with no net effect leaves the checkpoint alone: replaying it is free. If a record was given up, the mark
    /// moves past it, so that it is never counted later, when somebody may have repaired the counters already.
    pub fn next(&self) -> Next<'_> {
        let Some(first) = self.records.first() else { return Next::Done };
        if !self.is_mark_known && self.mark.as_ref().is_none_or(|mark| first.number <= *mark) {
            return Next::Mark;
        }
        let mut lines_to_read = Vec::new();
        let mut uncountable = Vec::new();
        let mut step = Step::from(self.mark.clone(), first.number.clone());
        for record in self.left() {
            let change = match &record.change {
                Err(_) if self.given_up.contains(&record.number) && uncountable.is_empty() => {
                    step.mark = record.number.clone();
                    step.given_up += 1;
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
            let counts = change.counts(lines);
            if step.counts.len() + step.counts.growth(&counts) > self.most_counters && !step.counts.is_empty() {
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

    /// The checkpoint holds this mark, or there is no checkpoint.
    pub fn found(&mut self, mark: Option<SequenceNumber>) {
        (self.mark, self.is_mark_known) = (mark, true);
        let counted = self.records.len() - self.left().count();
        self.progress.skipped = counted.saturating_sub(self.progress.applied + self.progress.given_up);
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

    /// The lines of an order that was called off do not read as lines, now or later.
    pub fn cannot_learn(&mut self, order: &OrderId) {
        for record in &mut self.records {
            if record.change.as_ref().ok().and_then(Change::called_off).is_some_and(|header| header.order_id == *order)
            {
                record.change = Err(Uncountable::UnreadableLines);
            }
        }
    }

    /// This record is kept elsewhere, and is to be passed over.
    pub fn give_up(&mut self, number: SequenceNumber) {
        self.given_up.insert(number);
    }

    /// The step is written.
    pub fn applied(&mut self, step: Step) {
        self.progress.applied += step.records;
        self.progress.given_up += step.given_up;
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
