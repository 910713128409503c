//! Writing one item.

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
use crate::item::{self, Item};
use crate::throttle::UnlessRefused;
use crate::write::Act;
use crate::{Budget, Error, Meter, Table, Write};

/// May write the table: PutItem, UpdateItem, DeleteItem and TransactWriteItems.
#[derive(Clone, Debug)]
pub struct Writer {
    pub(crate) table: Table,
    /// Whether a transaction for which there is no capacity is left to the client's own retries.
    pub(crate) waits_for_capacity: bool,
    /// Whether a transaction that others are in the way of is tried again.
    pub(crate) waits_for_others: bool,
    /// Whether a single write that was not answered is left to the client's own retries.
    repeats: bool,
    pub(crate) meter: Option<Meter>,
}

impl FromEnvironment for Writer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            table: Table::from_environment(environment)?,
            waits_for_capacity: true,
            waits_for_others: true,
            repeats: true,
            meter: None,
        })
    }
}

/// What came of writing an item that must be new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put<T> {
    /// It is written.
    New,
    /// One was there already, and is untouched.
    Exists(T),
}

/// The outcome of one conditional write.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Written {
    /// The item is written.
    Done,
    /// Nothing is written: the condition failed. The item as it is, if there is one.
    ConditionFailed(Option<Item>),
}

impl Written {
    /// Whether the item is written.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

impl Writer {
    /// The same, but a transaction for which there is no capacity comes back at once: for callers who have a queue.
    #[must_use]
    pub fn fail_fast_on_capacity(self) -> Self {
        Self { waits_for_capacity: false, ..self }
    }

    /// The same, but a transaction that others are in the way of comes back at once, as [`Throttle::Contention`]: for
    /// callers who can do with a smaller one.
    ///
    /// [`Throttle::Contention`]: crate::Throttle::Contention
    #[must_use]
    pub fn fail_fast_on_conflict(self) -> Self {
        Self { waits_for_others: false, ..self }
    }

    /// The same, but a single write that was not answered comes back at once: for callers who must know whether it was
    /// theirs, and not another's, that a repetition finds done.
    #[must_use]
    pub fn no_retry_if_unanswered(self) -> Self {
        Self { repeats: false, ..self }
    }

    /// The same, and adds what it consumes to the meter.
    #[must_use]
    pub fn metered(self, meter: &Meter) -> Self {
        Self { meter: Some(meter.clone()), ..self }
    }

    /// Writes an item unless one with its key is there. One request.
    ///
    /// A caller whose first attempt was cut off finds its own item: compare what exists with what was to be written.
    pub async fn put_new<T: Stored>(&self, entity: &T, budget: Budget) -> Result<Put<T>, Error> {
        match self.write(Write::put_new(entity)?, budget).await? {
            Written::Done => Ok(Put::New),
            Written::ConditionFailed(existing) => Ok(Put::Exists(item::read(existing.unwrap_or_default())?)),
        }
    }

    /// Does one write. One request, and another each time that a transaction was in the way, within the budget.
    pub async fn write(&self, write: Write, budget: Budget) -> Result<Written, Error> {
        let mut retries = budget.retries();
        loop {
            match self.send(write.clone()).await {
                Sent::Done => return Ok(Written::Done),
                Sent::Condition(item) => return Ok(Written::ConditionFailed(item)),
                Sent::Conflict(_) if retries.pause().await => {}
                Sent::Conflict(error) | Sent::Failed(error) => return Err(error),
            }
        }
    }

    async fn send(&self, write: Write) -> Sent {
        /// Each operation has a type of its own, and no trait is common to them.
        macro_rules! sent {
            ($call:expr) => {{
                let mut call = $call.set_return_consumed_capacity(self.report()).customize();
                if !self.repeats {
                    call = call.config_override(Config::builder().retry_classifier(UnlessRefused));
                }
                self.sent(call.send().await)
            }};
        }
        let Expressions { update, condition, names, values, on_failure } = write.expressions();
        let (client, table) = (&self.table.client, &*self.table.name);
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
            Act::Check(_) => Sent::Failed(Error::Refused("a check alone is no write".into())),
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

    /// What DynamoDB is asked to report.
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

/// What came of a single write.
enum Sent {
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

/// An answer that may hold what the write consumed. The SDK has one type for each operation.
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
