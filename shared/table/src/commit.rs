//! Writing several items in one transaction.

use std::hash::{BuildHasher, RandomState};

use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;

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
        let actions = writes.into_iter().map(|write| write.into_action(&self.table.name));
        let actions: Vec<_> = actions.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut retries = budget.retries();
        // All attempts with one token count as one transaction, both the client's retries and those of this loop.
        let mut token = new_token();
        loop {
            let call = self.table.client.transact_write_items().set_transact_items(Some(actions.clone()));
            let call = call.client_request_token(&token);
            let mut call = call.set_return_consumed_capacity(self.report()).customize();
            if !self.retries_on_capacity {
                call = call.config_override(Config::builder().retry_classifier(NoRetryOnCapacity));
            }
            let error = match call.send().await {
                Ok(done) => {
                    self.measure(done.consumed_capacity());
                    return Ok(Commit::Done);
                }
                Err(error) => error,
            };
            let cancellation = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    Cancellation::of(cancelled.cancellation_reasons())
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
            let is_throttled = matches!(cancellation, Cancellation::Throttled(_));
            if let Some(meter) = self.meter.as_ref().filter(|_| !is_throttled) {
                meter.add_cancelled(actions.len());
            }
            match cancellation {
                Cancellation::Throttled(by) => return Err(Error::Throttled { by, source: error.into() }),
                Cancellation::ConditionFailed => return Ok(Commit::Cancelled(causes(error.into_service_error()))),
                Cancellation::Conflict if self.retries_on_conflict && retries.pause().await => {
                    // The cancelled transaction wrote nothing, so the next attempt is a new transaction.
                    token = new_token();
                }
                Cancellation::Conflict => return Err(Error::contention(error)),
                Cancellation::Invalid => return Err(Error::Refused(error.into_service_error().into())),
            }
        }
    }
}

/// A token that no other transaction has: two hashes with random keys. (`RandomState` seeds its keys from the operating
/// system, and each new one has different keys.)
fn new_token() -> String {
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
