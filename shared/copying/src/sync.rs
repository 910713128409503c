//! Carrying out one plan, until the pair is equal.

use std::time::Duration;

use key_schema::entity::Side;
use key_schema::layout::Key;
use table::{Budget, Cause, Commit, Pair, Pairs, Throttle, Write};

use crate::Error;
use crate::item::size;
use crate::plan::{self, Plan};

/// The time limit of a transaction that can be split into smaller ones.
pub(crate) const BATCH: Duration = Duration::from_secs(2);

/// The most bytes of a transaction that replaces items. It contains the old item twice: in the condition of the item,
/// and in that of its copy.
const MOST_BYTES: usize = 600_000;

/// A check that is the first action of each transaction of a worker. It fails once the worker has lost its work to
/// another one, so that a worker that slept for an hour does no harm when it wakes up.
#[derive(Clone, Debug)]
pub(crate) struct Fence(pub(crate) Side, pub(crate) Write);

/// The outcome of one transaction behind a fence.
pub(crate) enum Fenced {
    Done,
    /// Conditions failed. There is one entry for each write behind the fence: whether its condition failed.
    Failed(Vec<bool>),
}

impl Fence {
    /// Does all of these writes or none, if the fence still holds.
    pub(crate) async fn commit(
        &self,
        pairs: &Pairs,
        writes: Vec<(Side, Write)>,
        budget: Budget,
    ) -> Result<Fenced, Error> {
        let Self(side, check) = self;
        let mut actions = vec![(*side, check.clone())];
        actions.extend(writes);
        let Commit::Cancelled(causes) = pairs.commit(actions, budget).await? else { return Ok(Fenced::Done) };
        let mut failed = causes.iter().map(|cause| matches!(cause, Cause::Condition(_)));
        if failed.next() == Some(true) {
            return Err(Error::Superseded);
        }
        Ok(Fenced::Failed(failed.collect()))
    }

    /// Makes these pairs equal, at most [`MOST_PAIRS`](crate::batches::MOST_PAIRS): those that differ in one transaction, or
    /// each in its own if somebody else writes some of them. Returns the number of pairs that differed. `alone` is the
    /// time limit of one pair.
    pub(crate) async fn equalise(
        &self,
        pairs: &Pairs,
        keys: &[Key],
        leader: Side,
        alone: impl Fn() -> Budget,
    ) -> Result<u64, Error> {
        let (mut changed, batch) = (0, || alone().at_most(BATCH));
        let left = match pairs.snapshot(keys.to_vec(), batch()).await.map_err(Error::from) {
            Err(error) if is_contention(&error) => keys.to_vec(),
            found => {
                let mut found = found?;
                found.retain(|pair| plan::plan(pair, leader) != Plan::Equal);
                // A deletion takes two transactions.
                let (gone, rest): (Vec<_>, Vec<_>) =
                    found.into_iter().partition(|pair| plan::plan(pair, leader) == Plan::Delete);
                let is_done = self.equalise_at_once(pairs, &rest, leader, batch()).await?;
                changed += if is_done { rest.len() as u64 } else { 0 };
                let rest = if is_done { Vec::new() } else { rest };
                gone.into_iter().chain(rest).map(|pair| pair.key).collect()
            }
        };
        for key in left {
            changed += u64::from(self.sync(pairs, &key, leader, alone()).await?);
        }
        Ok(changed)
    }

    /// Makes these pairs equal in one transaction. Returns `false` if that is too large, or if somebody else writes some of
    /// them.
    async fn equalise_at_once(
        &self,
        pairs: &Pairs,
        found: &[Pair],
        leader: Side,
        budget: Budget,
    ) -> Result<bool, Error> {
        let bytes: usize = found.iter().flat_map(|pair| [&pair.first, &pair.next]).flatten().map(size).sum();
        if found.is_empty() || bytes > MOST_BYTES {
            return Ok(found.is_empty());
        }
        let writes = found.iter().flat_map(|pair| plan::writes(pair, leader, mark())).collect();
        match self.commit(pairs, writes, budget).await {
            Ok(Fenced::Done) => Ok(true),
            Ok(Fenced::Failed(_)) => Ok(false),
            Err(error) if is_contention(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes a pair equal. Returns whether the two were different. Reads the pair again as often as somebody else
    /// writes it meanwhile, within the budget.
    pub(crate) async fn sync(&self, pairs: &Pairs, key: &Key, leader: Side, budget: Budget) -> Result<bool, Error> {
        let (mut retries, mut changed) = (budget.retries(), false);
        'pair: loop {
            for pair in pairs.snapshot(vec![key.clone()], budget).await? {
                let writes = plan::writes(&pair, leader, mark());
                if writes.is_empty() {
                    return Ok(changed);
                }
                if matches!(self.commit(pairs, writes, budget).await?, Fenced::Done) {
                    changed = true;
                    continue 'pair;
                }
            }
            if !retries.pause().await {
                return Err(table::Error::contention("the pair changed each time that it was read").into());
            }
        }
    }
}

/// Whether a transaction failed only because others are writing the same items.
pub(crate) fn is_contention(error: &Error) -> bool {
    matches!(error, Error::Table(table::Error::Throttled { by: Throttle::Contention, .. }))
}

/// A new mark of a copy.
pub(crate) fn mark() -> u64 {
    fastrand::u64(..)
}
