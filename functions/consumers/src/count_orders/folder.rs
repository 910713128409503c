//! The requests that fold parked counts.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use counting::{Aggregate, Fold, Folding, Step, Work};
use futures_util::future::{join, join_all, try_join_all};
use key_schema::entity::{FoldLease, ParkedCounts};
use key_schema::layout::{COUNTS_PARKED, Consistency, Key, Query, Stored as _, in_shards};
use key_schema::value::{HolderId, Timestamp};
use table::{Budget, Condition, Error, Reader, Write, Writer, Written, read_item};
use tokio::time::Instant;
use tracing::{error, info};

/// The time for which a consumer folds the counts of others, besides its own.
const TURN: Duration = Duration::from_secs(5);

/// The time after which the lease of a consumer that crashed can be taken, in seconds. It is longer than a turn and one
/// transaction.
const LEASE: i64 = 20;

/// The longest that one transaction is tried.
const ONE_FOLD: Duration = Duration::from_secs(10);

/// The number of parked items that are read of each list at once.
const PAGE_SIZE: u8 = 100;

/// Adds parked counts to the counters.
#[derive(Clone, Debug)]
pub struct Folder {
    reader: Reader,
    writer: Writer,
}

lambda::from_environment!(Folder { reader, writer });

impl Folder {
    /// Folds these items, given by their groups, or waits until another consumer has folded them. An error is logged:
    /// what is parked is not lost, and the next consumer folds it.
    pub(crate) async fn fold(&self, parked: BTreeMap<u8, Vec<Key>>, budget: Budget) {
        let most_writes = self.writer.most_writes();
        let folded = parked.into_iter().map(|(group, keys)| self.drive(group, Folding::of(keys, most_writes), budget));
        for outcome in join_all(folded).await {
            if let Err(error) = outcome {
                error!(cause = lambda::chain(&error), "parked counts are not folded");
            }
        }
    }

    /// Folds everything that is parked, and returns the time of the oldest counts that are still parked after that.
    pub async fn sweep(&self, budget: Budget) -> Result<Option<Timestamp>, Error> {
        let groups = (0..ParkedCounts::GROUPS).map(|group| self.sweep_group(group, budget));
        Ok(try_join_all(groups).await?.into_iter().flatten().min())
    }

    /// Folds everything that is parked in this group, as [`Folder::sweep`] does.
    pub async fn sweep_group(&self, group: u8, budget: Budget) -> Result<Option<Timestamp>, Error> {
        if self.parked_since(group).await?.is_none() {
            return Ok(None);
        }
        self.drive(group, Folding::of_everything(self.writer.most_writes()), budget).await?;
        self.parked_since(group).await
    }

    /// The time of the group's oldest parked counts, of any release.
    async fn parked_since(&self, group: u8) -> Result<Option<Timestamp>, Error> {
        let lists = in_shards(ParkedCounts::LISTS, |list| COUNTS_PARKED.ask((&group, &list)));
        let oldest = try_join_all(lists.iter().map(|list| self.reader.after(list, None, 1))).await?;
        Ok(oldest.into_iter().flat_map(|(parked, _)| parked).map(|parked| parked.parked_at).min())
    }

    async fn drive(&self, group: u8, mut folding: Folding, budget: Budget) -> Result<(), Error> {
        let holder = HolderId::random();
        let outcome = self.requests(group, &holder, &mut folding, budget).await;
        if outcome.is_err() && folding.has_lease() {
            self.release(group, &holder, budget).await?;
        }
        outcome
    }

    async fn requests(&self, group: u8, holder: &HolderId, folding: &mut Folding, budget: Budget) -> Result<(), Error> {
        let (mut pauses, mut retries) = (budget.retries(), budget.retries());
        let mut turn = Instant::now() + TURN;
        let mut folded = 0;
        loop {
            match folding.next() {
                Work::Done => return Ok(()),
                Work::Wait => {
                    if !pauses.pause().await {
                        // Whoever has the lease folds it.
                        return Ok(());
                    }
                    folding.waited();
                }
                Work::Look => {
                    let (existing, is_free) = self.look(group, folding.awaited(), budget).await?;
                    folding.looked(&existing, is_free);
                }
                Work::Take => {
                    folding.took(self.take(group, holder, budget).await?);
                    turn = Instant::now() + TURN;
                }
                Work::List => folding.listed(&self.list(group).await?),
                Work::Fold(fold) => {
                    match self.commit(&fold, budget).await {
                        Ok(is_written) => {
                            folded += if is_written { fold.parked.len() } else { 0 };
                            folding.folded(is_written);
                        }
                        // It may be written. The same transaction can only be written once.
                        Err(Error::Unanswered(_)) if retries.pause().await => {}
                        Err(error) => return Err(error),
                    }
                    if Instant::now() >= turn {
                        folding.stop();
                    }
                }
                Work::Release => {
                    self.release(group, holder, budget).await?;
                    info!(group, folded, "folded");
                    folding.released();
                }
            }
        }
    }

    /// Those of these items that are still parked, and whether the group's lease can be taken.
    async fn look(&self, group: u8, parked: &[Key], budget: Budget) -> Result<(HashSet<Key>, bool), Error> {
        let parked = self.reader.existing(parked.to_vec(), Consistency::Strong, budget);
        let lease = self.reader.batch::<FoldLease>(vec![FoldLease::key_of(group)], Consistency::Strong, budget);
        let (parked, lease) = join(parked, lease).await;
        let is_free = lease?.first().is_none_or(|lease| lease.expires_at < Timestamp::now().as_second());
        Ok((parked?.into_iter().collect(), is_free))
    }

    /// Takes the group's lease. Returns `false` if another consumer has it.
    async fn take(&self, group: u8, holder: &HolderId, budget: Budget) -> Result<bool, Error> {
        let now = Timestamp::now().as_second();
        let lease = FoldLease { group, holder: holder.clone(), expires_at: now + LEASE };
        let is_expired = Condition::new("#expiresAt < :now").value(":now", now)?;
        match self.writer.write(Write::put_if(&lease, Condition::absent().or(is_expired))?, budget).await? {
            Written::Done => Ok(true),
            // The lease may be there from an attempt that was not answered.
            Written::ConditionFailed(found) => {
                Ok(found.map(read_item::<FoldLease>).transpose()?.is_some_and(|found| found.holder == *holder))
            }
        }
    }

    /// Gives the lease back, if it was not taken by another consumer after it had expired.
    async fn release(&self, group: u8, holder: &HolderId, budget: Budget) -> Result<(), Error> {
        let is_own = Condition::new("#holder = :holder").value(":holder", holder)?;
        self.writer.write(Write::delete_if(FoldLease::key_of(group), is_own), budget).await.map(drop)
    }

    /// The oldest parked counts of the group that this release knows.
    async fn list(&self, group: u8) -> Result<Vec<ParkedCounts>, Error> {
        let lists = in_shards(ParkedCounts::LISTS, |list| COUNTS_PARKED.ask((&group, &list)));
        let mut parked = try_join_all(lists.iter().map(|list| self.oldest(list))).await?.concat();
        parked.sort_by_key(|parked| parked.parked_at);
        Ok(parked)
    }

    async fn oldest(&self, list: &Query<ParkedCounts>) -> Result<Vec<ParkedCounts>, Error> {
        let mut position = None;
        loop {
            let (mut parked, stopped) = self.reader.after(list, position.as_deref(), PAGE_SIZE).await?;
            parked.retain(ParkedCounts::is_known);
            if !parked.is_empty() || stopped.is_none() {
                return Ok(parked);
            }
            position = stopped;
        }
    }

    /// Writes a fold. Returns `false` if a part of it is folded already.
    async fn commit(&self, fold: &Fold, budget: Budget) -> Result<bool, Error> {
        let delete = |key: &Key| Write::delete_if(key.clone(), Condition::present());
        let mut writes: Vec<_> = fold.parked.iter().map(delete).collect();
        for aggregate in fold.counts.aggregates() {
            writes.push(add(aggregate, &fold.counts)?);
        }
        Ok(self.writer.commit(writes, budget.at_most(ONE_FOLD)).await?.is_done())
    }
}

/// The writes of a step beside its checkpoint: it adds its counts to the counters, or puts these items.
pub(super) fn writes(step: &Step, parked: &[ParkedCounts]) -> Result<Vec<Write>, Error> {
    if step.parks {
        parked.iter().map(Write::put_new).collect()
    } else {
        step.counts.aggregates().map(|aggregate| add(aggregate, &step.counts)).collect()
    }
}

/// The keys of parked items, by group.
pub(super) fn by_group(parked: &[ParkedCounts]) -> BTreeMap<u8, Vec<Key>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for item in parked {
        groups.entry(item.group).or_default().push(item.key());
    }
    groups
}

fn add(aggregate: &Aggregate, counts: &counting::Counts) -> Result<Write, Error> {
    match aggregate {
        Aggregate::Customer(id) => Write::add(&counts.customer(id)),
        Aggregate::Product(id) => Write::add(&counts.product(id)),
        Aggregate::Day(day) => Write::add(&counts.day(*day)),
    }
}
