//! Carrying out one plan, until the pair is equal.

use key_schema::entity::Side;
use key_schema::layout::Key;
use table::{Budget, Cause, Commit, Pairs, Write};

use crate::Error;
use crate::plan;

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

/// A new mark of a copy.
pub(crate) fn mark() -> u64 {
    fastrand::u64(..)
}
