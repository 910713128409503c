//! The requests that count a batch.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use counting::{Batch, Next, PARKED_FOR, Step};
use futures_util::stream::{StreamExt as _, iter};
use key_schema::entity::{OrderLine, ParkedCounts, StreamCheckpoint};
use key_schema::layout::{Consistency, Key, ProductsOfOrder, Stored as _};
use key_schema::value::{OrderId, SequenceNumber, ShardId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use stream::{Delivered, LostRecords};
use table::{Budget, Cause, Commit, Condition, Error, Reader, Throttle, Write, Writer, read_item};
use tokio::time::Instant;
use tracing::warn;

use super::folder::{Folder, add};

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
    /// The shard that this execution environment counted last, and its mark.
    last: Arc<Mutex<Option<(ShardId, SequenceNumber)>>>,
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
            last: Arc::default(),
            parks_until: Arc::default(),
        })
    }
}

impl Counter {
    /// The shard's mark, if this execution environment counted the shard last.
    pub(crate) fn remembered(&self, shard: &ShardId) -> Option<SequenceNumber> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(known, _)| known == shard).map(|(_, mark)| mark.clone())
    }

    pub(crate) fn remember(&self, shard: &ShardId, mark: &SequenceNumber) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((shard.clone(), mark.clone()));
    }

    /// Whether a transaction of this execution environment met another one a short time ago.
    fn parks(&self) -> bool {
        let parks_until = self.parks_until.lock().unwrap_or_else(PoisonError::into_inner);
        parks_until.is_some_and(|until| Instant::now() < until)
    }

    fn park(&self) {
        *self.parks_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + PARKED_FOR);
    }

    /// The most counters of one transaction: all of its writes but that of the checkpoint. If a move is prepared, each
    /// write is done in both tables.
    pub(crate) fn most_counters(&self) -> usize {
        self.writer.most_writes() - 1
    }

    /// Counts the batch. `delivered` has the batch's records as Lambda delivered them.
    pub(crate) async fn count(
        &self,
        shard: &ShardId,
        batch: &mut Batch,
        delivered: &[Delivered],
        budget: Budget,
    ) -> Result<(), lambda::Error> {
        if self.parks() {
            batch.park();
        }
        let mut parked = BTreeMap::new();
        let outcome = self.requests(shard, batch, delivered, &mut parked, budget).await;
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
        delivered: &[Delivered],
        parked: &mut BTreeMap<u8, Vec<Key>>,
        budget: Budget,
    ) -> Result<(), lambda::Error> {
        let parked_at = Timestamp::now();
        let mut retries = budget.retries();
        loop {
            match batch.next() {
                Next::Done => return Ok(()),
                Next::Mark => {
                    let mark = self.mark(shard, budget).await?;
                    batch.found(mark);
                }
                Next::Lines(orders) => {
                    let orders: Vec<OrderId> = orders.into_iter().cloned().collect();
                    let reads = iter(orders).map(|order| self.lines(order)).buffered(CONCURRENCY);
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
                    for item in &items {
                        parked.entry(item.group).or_default().push(item.key());
                    }
                    match self.apply(shard, &step, &items, budget).await {
                        Ok(Applied::Now) => batch.applied(step),
                        Ok(Applied::Not { mark }) => batch.found(mark),
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

    /// The mark in the shard's checkpoint; `None` if there is no checkpoint.
    async fn mark(&self, shard: &ShardId, budget: Budget) -> Result<Option<SequenceNumber>, Error> {
        let keys = vec![StreamCheckpoint::key_of(shard)];
        let found: Vec<StreamCheckpoint> = self.reader.batch(keys, Consistency::Strong, budget).await?;
        Ok(found.into_iter().next().map(|checkpoint| checkpoint.mark))
    }

    async fn lines(&self, order: OrderId) -> (OrderId, Result<Vec<OrderLine>, Error>) {
        let items = self.reader.collection(&ProductsOfOrder { order: &order }).await;
        (order, items.map(|items| items.into_iter().map(|item| item.line).collect()))
    }

    /// Writes a step, on condition that the shard's mark is the one at which the step begins. A step that is to be parked
    /// puts these items and changes no counter, so it only meets a duplicate of itself, and is retried.
    async fn apply(
        &self,
        shard: &ShardId,
        step: &Step,
        parked: &[ParkedCounts],
        budget: Budget,
    ) -> Result<Applied, Error> {
        let checkpoint = StreamCheckpoint::new(shard.clone(), step.mark.clone(), Timestamp::now());
        let is_previous = match &step.previous {
            Some(mark) => Condition::new("#mark = :previous").value(":previous", mark)?,
            None => Condition::absent(),
        };
        let mut writes = vec![Write::put_if(&checkpoint, is_previous)?];
        let table = if step.parks { self.writer.clone() } else { self.writer.clone().fail_fast_on_conflict() };
        if step.parks {
            for item in parked {
                writes.push(Write::put_new(item)?);
            }
        } else {
            for aggregate in step.counts.aggregates() {
                writes.push(add(aggregate, &step.counts)?);
            }
        }
        match table.commit(writes, budget).await? {
            Commit::Done => Ok(Applied::Now),
            Commit::Cancelled(causes) => match causes.into_iter().next() {
                Some(Cause::Condition(Some(item))) => {
                    Ok(Applied::Not { mark: Some(read_item::<StreamCheckpoint>(item)?.mark) })
                }
                Some(Cause::Condition(None)) => Ok(Applied::Not { mark: None }),
                _ => Err(Error::Inconsistent("counts are parked that the checkpoint does not cover")),
            },
        }
    }
}

/// The outcome of writing a step.
enum Applied {
    /// The step is written.
    Now,
    /// The step is not written, because the shard has this mark, or no checkpoint.
    Not { mark: Option<SequenceNumber> },
}
