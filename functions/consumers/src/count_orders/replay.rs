//! Counts records that were given up.
//!
//! A shard's checkpoint lists the records that its mark has passed although they are not counted. A record that is listed is
//! counted by one transaction, which adds its counts and removes it from the list, on condition that the list is the one
//! that was read. So it is counted once, however often this is repeated, and beside the running consumer.
//!
//! A repair of counters makes them the sums over the orders, so they then contain what was given up before. The same
//! transaction has the condition that nothing was repaired since the records were written.

use counting::{Batch, Next, Step};
use key_schema::entity::{ParkedCounts, Span, StreamCheckpoint};
use key_schema::value::{SequenceNumber, ShardId, Timestamp, Zone};
use lambda::{Environment, FromEnvironment, Misconfigured};
use serde_json::Value;
use stream::Delivered;
use table::{Budget, Cause, Commit, Condition, Error, Reader, Throttle, Write, Writer};

use super::counter::{checkpoint, is_still, lines};
use super::folder::{self, Folder};
use super::record;

const NOT_PASSED: &str = "count-orders has not passed it yet, and may still count it";
const TOO_OLD: &str = "it is more than a week old, and its shard has no checkpoint: compare and repair the counts";
const FORGOTTEN: &str = "its shard's checkpoint does not tell whether it is counted: compare and repair the counts";
const REPAIRED: &str = "counters were repaired after it was written: compare and repair the counts of its day";

/// Records of one shard that were given up.
#[derive(Clone, Debug)]
pub struct GivenUp {
    /// The shard.
    pub shard: ShardId,
    /// Whether Lambda gave them up: they are all records of a batch, and it does not deliver them again. Otherwise
    /// `count-orders` did, each by itself, and its checkpoint lists them when it passes them.
    pub by_lambda: bool,
    /// The records, in Lambda's format.
    pub records: Vec<Value>,
}

/// The result of counting records that were given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recounted {
    /// The number of records that are counted now.
    pub counted: usize,
    /// The number of records that were counted before, or come to nothing.
    pub known: usize,
    /// The records that are not counted, with the reason.
    pub left: Vec<(SequenceNumber, String)>,
}

impl Recounted {
    /// Adds the result of other records.
    pub fn add(&mut self, other: Self) {
        self.counted += other.counted;
        self.known += other.known;
        self.left.extend(other.left);
    }

    fn leave<'a>(&mut self, numbers: impl IntoIterator<Item = &'a SequenceNumber>, reason: &str) {
        self.left.extend(numbers.into_iter().map(|number| (number.clone(), reason.to_owned())));
    }
}

/// Counts records that were given up.
#[derive(Clone, Debug)]
pub struct Recounter {
    reader: Reader,
    writer: Writer,
    folder: Folder,
    zone: Zone,
}

impl FromEnvironment for Recounter {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            writer: Writer::from_environment(environment)?,
            folder: Folder::from_environment(environment)?,
            zone: environment.parsed("TIME_ZONE")?,
        })
    }
}

/// The records of one call that are listed, in order.
struct Listed<'a> {
    numbers: Vec<SequenceNumber>,
    /// The time of the oldest record of the call.
    oldest: Timestamp,
    /// Whether no other record of the shard that counts is between two of them.
    is_whole: bool,
    shard: &'a ShardId,
}

/// The outcome of counting listed records.
enum Outcome {
    /// Everything is decided.
    Done,
    /// Everything up to this record is decided.
    UpTo(SequenceNumber),
    /// The checkpoint has changed, or may have: it must be read again.
    Changed,
}

/// The outcome of one transaction.
enum Applied {
    Now,
    Changed,
    Repaired,
}

impl Recounter {
    /// Counts these records, or says why not.
    ///
    /// # Errors
    /// Those of reads and transactions, and a record without a sequence number. What is counted is counted, and the call
    /// can be repeated.
    pub async fn count(&self, given_up: &GivenUp, budget: Budget) -> Result<Recounted, lambda::Error> {
        let (mut counted, mut retries) = (0, budget.retries());
        loop {
            let mut result = Recounted::default();
            let is_done = self.round(given_up, &mut result, budget).await?;
            counted += result.counted;
            if is_done {
                // The records that an earlier round has counted are no longer listed, so this one knew them.
                let before = counted - result.counted;
                return Ok(Recounted { known: result.known.saturating_sub(before), counted, ..result });
            }
            if !retries.pause().await {
                return Err("the shard's checkpoint changes all the time: try again".into());
            }
        }
    }

    /// Counts what can be counted with the present checkpoint. Returns whether everything is decided.
    async fn round(&self, given_up: &GivenUp, result: &mut Recounted, budget: Budget) -> Result<bool, lambda::Error> {
        let delivered = delivered(&given_up.records)?;
        let numbers = || delivered.iter().map(|record| &record.number);
        let (Some(last), Some(oldest)) = (numbers().next_back(), delivered.iter().filter_map(time).min()) else {
            result.leave(numbers(), "its time cannot be read");
            return Ok(true);
        };
        let mut known = checkpoint(&self.reader, &given_up.shard, budget).await?;
        if known.is_none() && Timestamp::now().as_second() - oldest.as_second() > StreamCheckpoint::KEPT_FOR {
            result.leave(numbers(), TOO_OLD);
            return Ok(true);
        }
        if given_up.by_lambda && known.as_ref().is_none_or(|known| known.mark < *last) {
            let passed = pass(&given_up.shard, known.as_ref(), delivered.last().and_then(time), last.clone());
            let put = Write::put_if(&passed, is_still(known.as_ref())?)?;
            if !self.writer.write_all(vec![put], budget).await?.is_done() {
                return Ok(false);
            }
            known = Some(passed);
        }
        let Some(mut known) = known else {
            result.leave(numbers(), NOT_PASSED);
            return Ok(true);
        };

        let mut listed = Listed { numbers: Vec::new(), oldest, is_whole: given_up.by_lambda, shard: &given_up.shard };
        for number in numbers() {
            if known.uncounted.contains(number) {
                listed.numbers.push(number.clone());
            } else if known.mark < *number {
                result.leave([number], NOT_PASSED);
            } else if known.uncounted.is_forgotten(number) {
                result.leave([number], FORGOTTEN);
            } else {
                result.known += 1;
            }
        }
        while !listed.numbers.is_empty() {
            match self.count_listed(&listed, &given_up.records, &mut known, result, budget).await? {
                Outcome::Done => break,
                Outcome::UpTo(last) => listed.numbers.retain(|number| *number > last),
                Outcome::Changed => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Counts listed records up to the first ones that can never be counted.
    async fn count_listed(
        &self,
        listed: &Listed<'_>,
        records: &[Value],
        known: &mut StreamCheckpoint,
        result: &mut Recounted,
        budget: Budget,
    ) -> Result<Outcome, lambda::Error> {
        let numbers = listed.numbers.as_slice();
        let mut delivered = delivered(records)?;
        delivered.retain(|delivered| numbers.contains(&delivered.number));
        let mut batch = Batch::new(delivered.iter_mut().map(record).collect(), None);
        // One write of a transaction is the condition on repairs.
        batch = batch.with_most_counters(self.writer.most_writes() - 2).in_zone(self.zone.clone());
        let mut begin = 0;
        loop {
            match batch.next() {
                Next::Done => {
                    result.known += numbers.len() - begin;
                    return Ok(Outcome::Done);
                }
                // Of what is listed, nothing is counted.
                Next::Mark => batch.found(None),
                Next::Fold => batch.folded(),
                Next::Lines(orders) => {
                    for order in orders.into_iter().cloned().collect::<Vec<_>>() {
                        match lines(&self.reader, order).await {
                            (order, Ok(lines)) => batch.learn(order, lines),
                            (order, Err(Error::Item(_))) => batch.cannot_learn(&order),
                            (_, Err(error)) => return Err(error.into()),
                        }
                    }
                }
                Next::GiveUp(unreadable) => {
                    let last = unreadable.last().map(|last| (*last).clone());
                    for number in unreadable {
                        let reason = batch.reason(number).map(|reason| lambda::chain(reason)).unwrap_or_default();
                        result.leave([number], &reason);
                    }
                    return Ok(last.map_or(Outcome::Done, Outcome::UpTo));
                }
                Next::Apply(step) => {
                    let end = numbers.iter().take_while(|number| **number <= step.mark).count();
                    let next = listed.without(known, &numbers[begin..end]);
                    let parked = step.parked(listed.shard, Timestamp::now());
                    let applied = self.apply(known, &next, (&step, &parked), listed.oldest, budget).await?;
                    // Also what was parked by a transaction that was not answered.
                    self.folder.fold(folder::by_group(&parked), budget).await;
                    match applied {
                        Applied::Now => {
                            tracing::info!(shard = %listed.shard, records = end - begin, "counted again");
                            result.counted += end - begin;
                            (begin, *known) = (end, next);
                            batch.applied(step);
                        }
                        Applied::Changed => return Ok(Outcome::Changed),
                        Applied::Repaired => {
                            result.leave(&numbers[begin..], REPAIRED);
                            return Ok(Outcome::Done);
                        }
                    }
                }
            }
        }
    }

    /// Writes a step, or the items that it parks, on condition that the checkpoint is the known one, and that nothing was
    /// repaired since then.
    async fn apply(
        &self,
        known: &StreamCheckpoint,
        next: &StreamCheckpoint,
        (step, parked): (&Step, &[ParkedCounts]),
        oldest: Timestamp,
        budget: Budget,
    ) -> Result<Applied, Error> {
        let is_older = Condition::new("#updatedAt < :oldest").value(":oldest", oldest)?;
        let mut writes = vec![
            Write::put_if(next, is_still(Some(known))?)?,
            Write::check(StreamCheckpoint::key_of_repairs(), Condition::absent().or(is_older)),
        ];
        writes.extend(folder::writes(step, parked)?);
        match self.writer.commit(writes, budget).await {
            Ok(Commit::Done) => Ok(Applied::Now),
            Ok(Commit::Cancelled(causes)) => Ok(match causes.get(1) {
                Some(Cause::Condition(_)) => Applied::Repaired,
                _ => Applied::Changed,
            }),
            // It may be written. The checkpoint tells.
            Err(Error::Unanswered(_) | Error::Throttled { by: Throttle::Contention, .. }) => Ok(Applied::Changed),
            Err(error) => Err(error),
        }
    }
}

impl Listed<'_> {
    /// The checkpoint without these records in its list.
    fn without(&self, known: &StreamCheckpoint, counted: &[SequenceNumber]) -> StreamCheckpoint {
        let mut uncounted = known.uncounted.clone();
        match counted {
            [first, .., last] if self.is_whole => uncounted.remove(first, last),
            counted => counted.iter().for_each(|number| uncounted.remove(number, number)),
        }
        known.with_uncounted(uncounted, Timestamp::now())
    }
}

/// The records in order, each once.
fn delivered(records: &[Value]) -> Result<Vec<Delivered>, serde_json::Error> {
    // Through its text, because a record also keeps the text of which it was made.
    let mut delivered: Vec<Delivered> = serde_json::from_str(&Value::from(records).to_string())?;
    delivered.sort_by(|a, b| a.number.cmp(&b.number));
    delivered.dedup_by(|a, b| a.number == b.number);
    Ok(delivered)
}

/// The time of a record, if it can be read.
fn time(delivered: &Delivered) -> Option<Timestamp> {
    delivered.record.as_ref().ok().map(|record| record.written_at)
}

/// The checkpoint after its mark has passed a batch that Lambda gave up. The batch behind the old mark is not counted, and
/// what was given up before it is not counted either.
fn pass(
    shard: &ShardId,
    known: Option<&StreamCheckpoint>,
    marked_at: Option<Timestamp>,
    last: SequenceNumber,
) -> StreamCheckpoint {
    let mut uncounted = known.map(|known| known.uncounted.clone()).unwrap_or_default();
    uncounted.add(Span::after(known.map(|known| known.mark.clone()), last.clone()));
    let marked_at = marked_at.unwrap_or(Timestamp::EPOCH);
    StreamCheckpoint::new(shard.clone(), last, marked_at, uncounted, Timestamp::now())
}
