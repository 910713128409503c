//! Writing many items in one transaction.

use std::hash::{BuildHasher, RandomState};

use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;

use crate::item::Item;
use crate::throttle::{CONFLICT, NotForWantOfCapacity};
use crate::{Budget, Error, Throttle, Write, Writer, Written};

/// Why one write of a transaction stopped all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// It did not.
    None,
    /// Its condition failed; with the item as it is, if there is one.
    Condition(Option<Item>),
}

/// The outcome of one transaction.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Commit {
    /// Everything is written.
    Done,
    /// Nothing is written, for these causes: one for each write, in order. At least one is a failed condition.
    Cancelled(Vec<Cause>),
}

impl Commit {
    /// Whether everything is written.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

impl Writer {
    /// Does all of these writes or none, like [`commit`](Self::commit). A single one needs no transaction, which would
    /// cost twice as much.
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

    /// Does all of these writes or none: at most 100, each of another item. One request, and another each time that
    /// other writes were in the way, within the budget.
    ///
    /// # Errors
    /// [`Error::Throttled`] also when the budget ends in conflicts.
    pub async fn commit(&self, writes: Vec<Write>, budget: Budget) -> Result<Commit, Error> {
        let actions = writes.into_iter().map(|write| write.into_action(&self.table.name));
        let actions: Vec<_> = actions.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut retries = budget.retries();
        // Under one token all repetitions count once, the client's and ours.
        let mut token = token();
        loop {
            let call = self.table.client.transact_write_items().set_transact_items(Some(actions.clone()));
            let call = call.client_request_token(&token);
            let mut call = call.set_return_consumed_capacity(self.report()).customize();
            if !self.waits_for_capacity {
                call = call.config_override(Config::builder().retry_classifier(NotForWantOfCapacity));
            }
            let error = match call.send().await {
                Ok(done) => {
                    self.measure(done.consumed_capacity());
                    return Ok(Commit::Done);
                }
                Err(error) => error,
            };
            let codes: Vec<_> = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap_or("None")).collect()
                }
                // An earlier attempt of this very call is still under way. The same token, a little later, brings its
                // outcome; another token would begin another transaction beside it.
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
            if let Some(by) = codes.iter().find_map(|code| Throttle::of_cancellation(code)) {
                return Err(Error::Throttled { by, source: error.into() });
            }
            if let Some(meter) = &self.meter {
                meter.add_cancelled(actions.len());
            }
            // Before the conditions: one that failed beside a conflict may have seen half of what is being written.
            if !codes.contains(&CONFLICT) {
                let is_condition = codes.contains(&"ConditionalCheckFailed");
                let error = error.into_service_error();
                return if is_condition {
                    Ok(Commit::Cancelled(causes(error)))
                } else {
                    Err(Error::Refused(error.into()))
                };
            }
            if !self.waits_for_others || !retries.pause().await {
                return Err(Error::contention(error));
            }
            // What was cancelled was not done, and is another transaction now.
            token = self::token();
        }
    }
}

/// Tells one transaction from every other: hashes under keys that the system has made up for this process, and that are
/// others each time.
fn token() -> String {
    let [high, low] = [0, 1].map(|half| RandomState::new().hash_one(half));
    format!("{high:016x}{low:016x}")
}

fn causes(error: TransactWriteItemsError) -> Vec<Cause> {
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else { return Vec::new() };
    let reasons = cancelled.cancellation_reasons.into_iter().flatten();
    reasons
        .map(|reason| match reason.code() {
            Some("ConditionalCheckFailed") => Cause::Condition(reason.item),
            _ => Cause::None,
        })
        .collect()
}
