//! Sending the writes of a function that is prepared for a migration.

use std::time::Duration;

use key_schema::layout::MOST_ACTIONS;

use crate::commit::{Attempt, new_token};
use crate::lockstep::{Lockstep, Verdict, handover};
use crate::writer::Sent;
use crate::{Budget, Cause, Commit, Error, Throttle, Write, Writer};

/// The number of times that the client itself sends a single write for which there is no capacity.
pub(crate) const ATTEMPTS: u8 = 3;

/// The number of transactions that are sent without a pause: one that assumes that the items exist, one that knows
/// which of them do not, and one that leaves a repair of those that differ from their copies.
const AT_ONCE: u8 = 3;

/// The longest wait for the repair of a copy that differs in a strict phase. It leaves time to queue an order.
const APART: Duration = Duration::from_secs(1);

/// The longest that one transaction is sent again. A step of a migration waits longer than this and an attempt of the
/// client.
const SENDING: Duration = Duration::from_secs(10);

impl Writer {
    /// The most writes of one transaction that can be done in both tables of a migration. Without a migration, those of
    /// any transaction.
    pub fn most_writes(&self) -> usize {
        if self.table.migration.is_some() { MOST_ACTIONS / 2 } else { MOST_ACTIONS }
    }

    /// [`commit`](Self::commit) by the phase of the migration.
    pub(crate) async fn commit_in_step(&self, writes: Vec<Write>, budget: Budget) -> Result<Commit, Error> {
        let mut lockstep = Lockstep::new(writes);
        let (mut retries, mut at_once) = (budget.retries(), AT_ONCE);
        let mut apart = budget.at_most(APART).retries();
        loop {
            // The phase is asked for again before each transaction: it must not outlive it.
            let homes = self.table.homes().await?;
            let transaction = lockstep.transaction(&homes, &new_token())?;
            let sending = &mut budget.at_most(SENDING).retries();
            let (error, is_another) = match self.attempt(&transaction.actions, transaction.leading, sending).await? {
                Attempt::Done => return Ok(Commit::Done),
                Attempt::Cancelled(causes) => match lockstep.cancelled(&transaction, causes) {
                    Verdict::Cancelled(causes) => return Ok(Commit::Cancelled(causes)),
                    Verdict::Again => (Error::contention("items were created and deleted for too long"), true),
                    Verdict::Apart if homes.is_strict && apart.pause().await => continue,
                    Verdict::Apart if homes.is_strict => return Err(handover("an item and its copy differ")),
                    Verdict::Apart => (Error::contention("items and their copies differ"), true),
                },
                Attempt::FollowerThrottled(error) if homes.is_strict => return Err(error),
                Attempt::FollowerThrottled(error) => {
                    lockstep.part();
                    (error, true)
                }
                Attempt::Conflict(error) => (error, false),
            };
            if is_another && at_once > 0 {
                at_once -= 1;
            } else if !self.retries_on_conflict || !retries.pause().await {
                return Err(error);
            }
        }
    }

    /// Sends one write to both tables, as a transaction: its token tells DynamoDB whether a write that is sent again is done.
    pub(crate) async fn send_in_step(&self, write: Write, is_retried: bool, budget: Budget) -> Sent {
        match self.commit_in_step(vec![write], budget).await {
            Ok(Commit::Done) => Sent::Done,
            Ok(Commit::Cancelled(causes)) => Sent::Condition(causes.into_iter().next().and_then(Cause::existing)),
            // The client itself would send a single write again.
            Err(error @ Error::Throttled { by: Throttle::CapacityOrHotKey, .. }) if is_retried => Sent::Conflict(error),
            Err(error) => Sent::Failed(error),
        }
    }
}
