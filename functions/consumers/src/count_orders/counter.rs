//! The requests that count a batch.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use counting::{Batch, Next, PARKED_FOR, Step};
use futures_util::stream::{StreamExt as _, iter};
use key_schema::entity::{OrderItem, OrderLine, ParkedCounts, Span, StreamCheckpoint};
use key_schema::layout::{Consistency, Key, PRODUCTS_OF_ORDER};
use key_schema::value::{OrderId, SequenceNumber, ShardId, Timestamp, Zone};
use lambda::{Environment, FromEnvironment, Misconfigured};
use stream::{Delivered, LostRecords};
use table::{Budget, Cause, Commit, Condition, Error, Reader, Throttle, Write, Writer, read_item};
use tokio::time::Instant;
use tracing::warn;

use super::folder::{self, Folder};

/// The number of cancelled orders whose lines are read concurrently.
const CONCURRENCY: usize = 16;

/// Counts a stream's records.
#[derive(Clone, Debug)]
pub struct Counter {
    reader: Reader,
    writer: Writer,
    folder: Folder,
    lost: LostRecords,
    /// The stream's only shard, if the deployment names one in `SINGLE_STREAM_SHARD`.
    pub(crate) only_shard: Option<ShardId>,
    /// The age of a mark, in seconds, from which Lambda may have given up records behind it.
    given_up_after: u32,
    /// The zone of the days that are counted: the variable `TIME_ZONE`.
    pub(crate) zone: Zone,
    /// The checkpoint of the shard that this execution environment counted last.
    last: Arc<Mutex<Option<StreamCheckpoint>>>,
    /// The time until which this execution environment parks the counts of its batches.
    parks_until: Arc<Mutex<Option<Instant>>>,
}

impl FromEnvironment for Counter {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let only_shard = environment.optional("SINGLE_STREAM_SHARD").map(str::parse).transpose();
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            writer: Writer::from_environment(environment)?,
            folder: Folder::from_environment(environment)?,
            lost: LostRecords::from_environment(environment)?,
            only_shard: only_shard.map_err(|error| Misconfigured::Invalid(format!("SINGLE_STREAM_SHARD: {error}")))?,
            given_up_after: environment.number("GIVEN_UP_AFTER_SECONDS", 0..=7 * 24 * 60 * 60)?,
            zone: environment.parsed("TIME_ZONE")?,
            last: Arc::default(),
            parks_until: Arc::default(),
        })
    }
}

impl Counter {
    /// The shard's checkpoint, if this execution environment counted the shard last.
    pub(crate) fn remembered(&self, shard: &ShardId) -> Option<StreamCheckpoint> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone().filter(|known| known.shard_id == *shard)
    }

    pub(crate) fn remember(&self, checkpoint: &StreamCheckpoint) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint.clone());
    }

    /// Whether a transaction of this execution environment met another one a short time ago.
    fn parks(&self) -> bool {
        let parks_until = self.parks_until.lock().unwrap_or_else(PoisonError::into_inner);
        parks_until.is_some_and(|until| Instant::now() < until)
    }

    fn park(&self) {
        *self.parks_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + PARKED_FOR);
    }

    /// The most counters of one transaction: all of its writes but that of the checkpoint. If a migration is prepared,
    /// each write is done in both tables.
    pub(crate) fn most_counters(&self) -> usize {
        self.writer.most_writes() - 1
    }

    /// Counts the batch. `delivered` has the batch's records as Lambda delivered them, and `known` the checkpoint with the
    /// batch's mark.
    pub(crate) async fn count(
        &self,
        shard: &ShardId,
        batch: &mut Batch,
        delivered: &[Delivered],
        known: &mut Option<StreamCheckpoint>,
        budget: Budget,
    ) -> Result<(), lambda::Error> {
        if self.parks() {
            batch.park();
        }
        let mut parked = BTreeMap::new();
        let outcome = self.requests(shard, batch, (delivered, known), &mut parked, budget).await;
        self.folder.fold(parked, budget).await;
        outcome
    }

    /// Makes the requests of the batch. `parked` has the keys of the items that it may have parked and not folded, by
    /// group.
    ///
    /// If a transaction is not answered, its step may have been written. The same step is then tried again, and its
    /// condition fails if it was.
    async fn requests(
        &self,
        shard: &ShardId,
        batch: &mut Batch,
        (delivered, known): (&[Delivered], &mut Option<StreamCheckpoint>),
        parked: &mut BTreeMap<u8, Vec<Key>>,
        budget: Budget,
    ) -> Result<(), lambda::Error> {
        let parked_at = Timestamp::now();
        let mut retries = budget.retries();
        loop {
            match batch.next() {
                Next::Done => return Ok(()),
                Next::Mark => {
                    *known = checkpoint(&self.reader, shard, budget).await?;
                    batch.found(known.as_ref().map(|known| known.mark.clone()));
                }
                Next::Lines(orders) => {
                    let orders: Vec<OrderId> = orders.into_iter().cloned().collect();
                    let reads = iter(orders).map(|order| lines(&self.reader, order)).buffered(CONCURRENCY);
                    for (order, lines) in reads.collect::<Vec<_>>().await {
                        match lines {
                            Ok(lines) => batch.learn(order, lines),
                            Err(error @ Error::Item(_)) => {
                                warn!(order_id = order.as_str(), cause = lambda::chain(&error), "unreadable lines");
                                batch.cannot_learn(&order);
                            }
                            Err(error) => return Err(error.into()),
                        }
                    }
                }
                Next::GiveUp(numbers) => {
                    let numbers: Vec<SequenceNumber> = numbers.into_iter().cloned().collect();
                    for number in numbers {
                        let cause = batch.reason(&number).map(|reason| lambda::chain(reason)).unwrap_or_default();
                        // Always found, because the batch was made from these records.
                        if let Some(delivered) = delivered.iter().find(|delivered| delivered.number == number) {
                            self.lost.take(Some(shard), delivered, &cause).await?;
                        }
                        batch.give_up(number);
                    }
                }
                Next::Apply(step) => {
                    let items = step.parked(shard, parked_at);
                    for (group, keys) in folder::by_group(&items) {
                        parked.entry(group).or_default().extend(keys);
                    }
                    let next = self.after(shard, known.as_ref(), batch, &step, delivered);
                    match self.apply(known.as_ref(), &next, &step, &items, budget).await {
                        Ok(Applied::Now) => {
                            *known = Some(next);
                            batch.applied(step);
                        }
                        Ok(Applied::Not { found }) => {
                            batch.found(found.as_ref().map(|found| found.mark.clone()));
                            *known = found;
                        }
                        Err(error @ Error::Throttled { by: Throttle::Contention, .. }) if !step.parks => {
                            batch.met_another();
                            if batch.parks() {
                                self.park();
                            } else if !retries.pause().await {
                                return Err(error.into());
                            }
                        }
                        Err(Error::Unanswered(_)) if retries.pause().await => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Next::Fold => {
                    self.folder.fold(take(parked), budget).await;
                    batch.folded();
                }
            }
        }
    }

    /// The checkpoint after this step. It lists what is not counted: the records that this step gives up, and those that
    /// Lambda may have given up between the mark and the batch.
    ///
    /// Lambda gives a record up only when it is old, and delivers those behind it only after that. So nothing was given up
    /// behind a mark whose record is younger. An unknown mark, or one of unknown age, may be old.
    fn after(
        &self,
        shard: &ShardId,
        known: Option<&StreamCheckpoint>,
        batch: &Batch,
        step: &Step,
        delivered: &[Delivered],
    ) -> StreamCheckpoint {
        let now = Timestamp::now();
        let mut uncounted = known.map(|known| known.uncounted.clone()).unwrap_or_default();
        let is_old = |at: Timestamp| now.as_second() - at.as_second() >= i64::from(self.given_up_after);
        if let Some(first) = batch.first()
            && known.is_none_or(|known| known.mark < *first && is_old(known.marked_at))
        {
            uncounted.add(Span::between(known.map(|known| known.mark.clone()), first.clone()));
        }
        for (first, last) in &step.passed {
            uncounted.add(Span::of(first.clone(), last.clone()));
        }
        let at_mark = delivered.iter().find(|delivered| delivered.number == step.mark);
        let marked_at = at_mark.and_then(|delivered| delivered.record.as_ref().ok()).map(|record| record.written_at);
        // An unknown time may be long ago.
        let marked_at = marked_at.unwrap_or(Timestamp::EPOCH);
        StreamCheckpoint::new(shard.clone(), step.mark.clone(), marked_at, uncounted, now)
    }

    /// Writes a step, on condition that the shard's checkpoint is the known one. A step that is to be parked puts these items
    /// and changes no counter, so it only meets a duplicate of itself, and is retried.
    async fn apply(
        &self,
        known: Option<&StreamCheckpoint>,
        next: &StreamCheckpoint,
        step: &Step,
        parked: &[ParkedCounts],
        budget: Budget,
    ) -> Result<Applied, Error> {
        let mut writes = vec![Write::put_if(next, is_still(known)?)?];
        let table = if step.parks { self.writer.clone() } else { self.writer.clone().fail_fast_on_conflict() };
        writes.extend(folder::writes(step, parked)?);
        match table.commit(writes, budget).await? {
            Commit::Done => Ok(Applied::Now),
            Commit::Cancelled(causes) => match causes.into_iter().next() {
                Some(Cause::Condition(found)) => {
                    Ok(Applied::Not { found: found.map(read_item::<StreamCheckpoint>).transpose()? })
                }
                _ => Err(Error::Inconsistent("counts are parked that the checkpoint does not cover")),
            },
        }
    }
}

/// The outcome of writing a step.
enum Applied {
    /// The step is written.
    Now,
    /// The step is not written, because the shard has this checkpoint, or none.
    Not { found: Option<StreamCheckpoint> },
}

/// The shard's checkpoint; `None` if there is none.
pub(super) async fn checkpoint(
    reader: &Reader,
    shard: &ShardId,
    budget: Budget,
) -> Result<Option<StreamCheckpoint>, Error> {
    let keys = vec![StreamCheckpoint::key_of(shard)];
    Ok(reader.batch(keys, Consistency::Strong, budget).await?.into_iter().next())
}

/// The condition that a shard's checkpoint is still this one.
pub(super) fn is_still(known: Option<&StreamCheckpoint>) -> Result<Condition, Error> {
    let Some(known) = known else { return Ok(Condition::absent()) };
    let condition = Condition::new("#mark = :previous").value(":previous", &known.mark)?;
    Ok(condition.and(if known.uncounted.is_empty() {
        Condition::new("attribute_not_exists(#uncounted)")
    } else {
        Condition::new("#uncounted = :uncounted").value(":uncounted", &known.uncounted)?
    }))
}

/// The lines of an order, strongly consistent.
pub(super) async fn lines(reader: &Reader, order: OrderId) -> (OrderId, Result<Vec<OrderLine>, Error>) {
    let items = reader.collection(&PRODUCTS_OF_ORDER.ask(&order)).await;
    (order, items.map(OrderItem::lines))
}
