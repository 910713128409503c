//! Writing one item, and the settings of all writes.

use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::{DeleteItemError, DeleteItemOutput};
use aws_sdk_dynamodb::operation::put_item::{PutItemError, PutItemOutput};
use aws_sdk_dynamodb::operation::update_item::{UpdateItemError, UpdateItemOutput};
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use key_schema::layout::Stored;
use lambda::{Environment, FromEnvironment, Misconfigured};

use crate::expression::Expressions;
use crate::home::Home;
use crate::in_step::ATTEMPTS;
use crate::item::{self, Item};
use crate::throttle::RetryOnlyIfRefused;
use crate::write::Act;
use crate::{Budget, Error, Meter, Table, Write};

/// Writes the table, with PutItem, UpdateItem, DeleteItem and TransactWriteItems.
#[derive(Clone, Debug)]
pub struct Writer {
    pub(crate) table: Table,
    /// Whether the client retries a transaction for which the table has no capacity left.
    pub(crate) retries_on_capacity: bool,
    pub(crate) retries_on_conflict: bool,
    /// Whether the client retries a single write that was not answered.
    retries_if_unanswered: bool,
    pub(crate) meter: Option<Meter>,
}

impl FromEnvironment for Writer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            table: Table::from_environment(environment)?,
            retries_on_capacity: true,
            retries_on_conflict: true,
            retries_if_unanswered: true,
            meter: None,
        })
    }
}

/// The outcome of putting an item that must be new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put<T> {
    /// The item is written.
    New,
    /// Nothing is written: this item existed already.
    Exists(T),
}

/// The outcome of one conditional write.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Written {
    /// The item is written.
    Done,
    /// Nothing is written: the condition failed. Holds the existing item, if there is one.
    ConditionFailed(Option<Item>),
}

impl Written {
    /// Whether the item is written.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

impl Writer {
    /// A writer that does not retry a transaction for which the table has no capacity left, for callers with a queue.
    #[must_use]
    pub fn fail_fast_on_capacity(self) -> Self {
        Self { retries_on_capacity: false, ..self }
    }

    /// A writer that does not retry a transaction that conflicts with others, but returns [`Throttle::Contention`], for
    /// callers that can fall back to smaller transactions.
    ///
    /// [`Throttle::Contention`]: crate::Throttle::Contention
    #[must_use]
    pub fn fail_fast_on_conflict(self) -> Self {
        Self { retries_on_conflict: false, ..self }
    }

    /// A writer that does not retry a single write that was not answered, for callers that must distinguish their own
    /// timed-out write from someone else's.
    #[must_use]
    pub fn no_retry_if_unanswered(self) -> Self {
        Self { retries_if_unanswered: false, ..self }
    }

    /// A writer that adds the write units it consumes to the meter.
    #[must_use]
    pub fn metered(self, meter: &Meter) -> Self {
        Self { meter: Some(meter.clone()), ..self }
    }

    /// Puts an item unless one with its key exists. One request.
    ///
    /// The existing item may be the caller's own, from an attempt that was not answered. Compare the two.
    pub async fn put_new<T: Stored>(&self, entity: &T, budget: Budget) -> Result<Put<T>, Error> {
        match self.write(Write::put_new(entity)?, budget).await? {
            Written::Done => Ok(Put::New),
            Written::ConditionFailed(existing) => Ok(Put::Exists(item::read(existing.unwrap_or_default())?)),
        }
    }

    /// Does one write. One request; a write that conflicts with a transaction is retried within the budget. In both tables
    /// of a migration a write is a transaction.
    pub async fn write(&self, write: Write, budget: Budget) -> Result<Written, Error> {
        let mut retries = budget.retries();
        let mut attempts = ATTEMPTS;
        loop {
            let homes = self.table.homes().await?;
            let sent = if homes.follower.is_none() || matches!(write.act, Act::Check(_)) {
                self.send(write.clone(), homes.leader).await
            } else {
                attempts -= 1;
                Box::pin(self.send_in_step(write.clone(), attempts > 0, budget)).await
            };
            match sent {
                Sent::Done => return Ok(Written::Done),
                Sent::Condition(item) => return Ok(Written::ConditionFailed(item)),
                Sent::Conflict(_) if retries.pause().await => {}
                Sent::Conflict(error) | Sent::Failed(error) => return Err(error),
            }
        }
    }

    pub(crate) async fn send(&self, write: Write, home: &Home) -> Sent {
        // The operations' builders have no trait in common.
        macro_rules! sent {
            ($call:expr) => {{
                let mut call = $call.set_return_consumed_capacity(self.report()).customize();
                if !self.retries_if_unanswered {
                    call = call.config_override(Config::builder().retry_classifier(RetryOnlyIfRefused));
                }
                self.sent(call.send().await)
            }};
        }
        let write = write.respelled(home);
        let Expressions { update, condition, names, values, on_failure } = write.expressions();
        let (client, table) = (&self.table.client, &*home.name);
        match write.act {
            Act::Put(item) => {
                let put = client.put_item().table_name(table).set_item(Some(item)).set_condition_expression(condition);
                let put = put.set_expression_attribute_names(names).set_expression_attribute_values(values);
                sent!(put.set_return_values_on_condition_check_failure(on_failure))
            }
            Act::Update(key, _) | Act::Change(key, _) | Act::Add(key, _) => {
                let key = Some(item::key(key).into());
                let update = client.update_item().table_name(table).set_key(key).set_update_expression(update);
                let update = update.set_condition_expression(condition);
                let update = update.set_expression_attribute_names(names).set_expression_attribute_values(values);
                sent!(update.set_return_values_on_condition_check_failure(on_failure))
            }
            Act::Delete(key) => {
                let delete = client.delete_item().table_name(table).set_key(Some(item::key(key).into()));
                let delete = delete.set_condition_expression(condition);
                let delete = delete.set_expression_attribute_names(names).set_expression_attribute_values(values);
                sent!(delete.set_return_values_on_condition_check_failure(on_failure))
            }
            Act::Check(_) => Sent::Failed(Error::Refused("a condition check needs a transaction".into())),
        }
    }

    fn sent<O, E>(&self, outcome: Result<O, SdkError<E, HttpResponse>>) -> Sent
    where
        O: Metered,
        E: ConditionFailure + ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        match outcome {
            Ok(done) => {
                self.measure(done.consumed().as_slice());
                Sent::Done
            }
            Err(SdkError::ServiceError(error)) if error.err().code() == Some("ConditionalCheckFailedException") => {
                Sent::Condition(error.into_err().into_item())
            }
            Err(error) if error.code() == Some("TransactionConflictException") => {
                Sent::Conflict(Error::contention(error))
            }
            Err(error) => Sent::Failed(error.into()),
        }
    }

    /// The report of consumed capacity to request: none without a meter.
    pub(crate) fn report(&self) -> Option<ReturnConsumedCapacity> {
        self.meter.as_ref().map(|_| ReturnConsumedCapacity::Indexes)
    }

    pub(crate) fn measure(&self, consumed: &[ConsumedCapacity]) {
        if let Some(meter) = &self.meter {
            for consumed in consumed {
                meter.add(consumed);
            }
        }
    }
}

/// The outcome of one request with a single write.
pub(crate) enum Sent {
    Done,
    Condition(Option<Item>),
    Conflict(Error),
    Failed(Error),
}

/// An error that may hold the item whose condition failed. The SDK has one type for each operation.
trait ConditionFailure {
    fn into_item(self) -> Option<Item>;
}

macro_rules! condition_failure {
    ($($error:ident)+) => {$(
        impl ConditionFailure for $error {
            fn into_item(self) -> Option<Item> {
                match self {
                    Self::ConditionalCheckFailedException(failed) => failed.item,
                    _ => None,
                }
            }
        }
    )+};
}

condition_failure!(PutItemError UpdateItemError DeleteItemError);

/// An answer that may report the capacity consumed. The SDK has one type for each operation.
trait Metered {
    fn consumed(self) -> Option<ConsumedCapacity>;
}

macro_rules! metered {
    ($($output:ident)+) => {$(
        impl Metered for $output {
            fn consumed(self) -> Option<ConsumedCapacity> {
                self.consumed_capacity
            }
        }
    )+};
}

metered!(PutItemOutput UpdateItemOutput DeleteItemOutput);
