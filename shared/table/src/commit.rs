//! Writing several items in one transaction.

use std::hash::{BuildHasher, RandomState};

use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::TransactWriteItem;
use lambda::Retries;

use crate::cancellation::{CONDITION_FAILED, Cancellation};
use crate::item::Item;
use crate::throttle::NoRetryOnCapacity;
use crate::{Budget, Error, Throttle, Write, Writer, Written};

/// The part of one write in the cancellation of its transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// This write did not cancel the transaction.
    None,
    /// This write's condition failed. Holds the existing item, if there is one.
    Condition(Option<Item>),
}

impl Cause {
    /// The existing item for which the condition failed.
    pub(crate) fn existing(self) -> Option<Item> {
        match self {
            Self::Condition(item) => item,
            Self::None => None,
        }
    }
}

/// The outcome of one transaction.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Commit {
    /// Everything is written.
    Done,
    /// Nothing is written. There is one cause for each write, in order, and at least one is a failed condition.
    Cancelled(Vec<Cause>),
}

impl Commit {
    /// Whether everything is written.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

impl Writer {
    /// Does all of these writes or none, like [`commit`](Self::commit). A single write is sent without a transaction,
    /// which would cost twice as much.
    ///
    /// # Errors
    /// Those of any write.
    pub async fn write_all(&self, writes: Vec<Write>, budget: Budget) -> Result<Commit, Error> {
        match <[Write; 1]>::try_from(writes) {
            Ok([write]) => Ok(match self.write(write, budget).await? {
                Written::Done => Commit::Done,
                Written::ConditionFailed(item) => Commit::Cancelled(vec![Cause::Condition(item)]),
            }),
            Err(writes) => self.commit(writes, budget).await,
        }
    }

    /// Does all of these writes or none: at most 100, each of a different item. One request; a transaction that was
    /// cancelled by a conflict is retried within the budget.
    ///
    /// # Errors
    /// Those of any write. [`Error::Throttled`] also if the budget ends while the writes conflict with others.
    pub async fn commit(&self, writes: Vec<Write>, budget: Budget) -> Result<Commit, Error> {
        if self.table.migration.is_some() {
            return Box::pin(self.commit_in_step(writes, budget)).await;
        }
        let actions = writes.into_iter().map(|write| write.into_action(&self.table.home));
        let actions: Vec<_> = actions.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut retries = budget.retries();
        loop {
            match self.attempt(&actions, actions.len(), &mut retries).await? {
                Attempt::Done => return Ok(Commit::Done),
                Attempt::Cancelled(causes) => return Ok(Commit::Cancelled(causes)),
                // The cancelled transaction wrote nothing, so the next attempt is a new transaction.
                Attempt::Conflict(_) if self.retries_on_conflict && retries.pause().await => {}
                Attempt::Conflict(error) | Attempt::FollowerThrottled(error) => return Err(error),
            }
        }
    }

    /// Sends one transaction, again if it is not known whether it is done. The first `leading` actions are those in the
    /// leading table.
    pub(crate) async fn attempt(
        &self,
        actions: &[TransactWriteItem],
        leading: usize,
        retries: &mut Retries,
    ) -> Result<Attempt, Error> {
        // All requests with one token count as one transaction, both the client's retries and those of this loop.
        let token = new_token();
        loop {
            let call = self.table.client.transact_write_items().set_transact_items(Some(actions.to_vec()));
            let call = call.client_request_token(&token);
            let mut call = call.set_return_consumed_capacity(self.report()).customize();
            if !self.retries_on_capacity {
                call = call.config_override(Config::builder().retry_classifier(NoRetryOnCapacity));
            }
            let error = match call.send().await {
                Ok(done) => {
                    self.measure(done.consumed_capacity());
                    return Ok(Attempt::Done);
                }
                Err(error) => error,
            };
            let reasons = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    cancelled.cancellation_reasons()
                }
                // An earlier attempt of this call is still in progress. Sent again with the same token, the call
                // returns that attempt's outcome. A new token would start a second transaction.
                Some(TransactWriteItemsError::TransactionInProgressException(_)) => {
                    if !retries.pause().await {
                        return Err(Error::Unanswered(error.into()));
                    }
                    continue;
                }
                _ => match Error::from(error) {
                    Error::Throttled { by: Throttle::HotKey, .. } if retries.pause().await => continue,
                    error => return Err(error),
                },
            };
            let cancellation = Cancellation::of(reasons);
            let is_throttled = matches!(cancellation, Cancellation::Throttled(_));
            if let Some(meter) = self.meter.as_ref().filter(|_| !is_throttled) {
                meter.add_cancelled(actions.len());
            }
            let leads = reasons.get(..leading).unwrap_or(reasons);
            return match cancellation {
                Cancellation::Throttled(by) => {
                    let is_leader = matches!(Cancellation::of(leads), Cancellation::Throttled(_));
                    let error = Error::Throttled { by, source: error.into() };
                    if is_leader { Err(error) } else { Ok(Attempt::FollowerThrottled(error)) }
                }
                Cancellation::ConditionFailed => Ok(Attempt::Cancelled(causes(error.into_service_error()))),
                Cancellation::Conflict => Ok(Attempt::Conflict(Error::contention(error))),
                Cancellation::Invalid => Err(Error::Refused(error.into_service_error().into())),
            };
        }
    }
}

/// The outcome of one transaction that was answered.
pub(crate) enum Attempt {
    Done,
    /// Conditions failed. There is one cause for each action.
    Cancelled(Vec<Cause>),
    /// Another request was writing the same items.
    Conflict(Error),
    /// Only actions in the table that follows were throttled.
    FollowerThrottled(Error),
}

/// A token that no other transaction has: two hashes with random keys. (`RandomState` seeds its keys from the operating
/// system, and each new one has different keys.)
pub(crate) fn new_token() -> String {
    let [high, low] = [0, 1].map(|half| RandomState::new().hash_one(half));
    format!("{high:016x}{low:016x}")
}

fn causes(error: TransactWriteItemsError) -> Vec<Cause> {
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else { return Vec::new() };
    let reasons = cancelled.cancellation_reasons.into_iter().flatten();
    reasons
        .map(|reason| match reason.code() {
            Some(CONDITION_FAILED) => Cause::Condition(reason.item),
            _ => Cause::None,
        })
        .collect()
}
