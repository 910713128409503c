//! Writing: one item, or many in one transaction.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use key_schema::layout::Stored;
use lambda::{Environment, FromEnvironment, Misconfigured};

use crate::error::is_throttling;
use crate::item::{self, Item};
use crate::write::{Act, Expressions};
use crate::{Budget, Error, Table, Write};

/// May write the table: PutItem, UpdateItem, DeleteItem and TransactWriteItems.
#[derive(Clone, Debug)]
pub struct Writer(Table);

impl FromEnvironment for Writer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Table::from_environment(environment).map(Self)
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

/// Why one write of a transaction stopped all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// It did not.
    None,
    /// Its condition failed; with the item as it is, if there is one.
    Condition(Option<Item>),
}

impl Writer {
    /// Writes an item unless one with its key is there. One request.
    ///
    /// A caller whose first attempt was cut off finds its own item: compare what exists with what was to be written.
    pub async fn put_new<T: Stored>(&self, entity: &T, budget: Budget) -> Result<Put<T>, Error> {
        match self.write(Write::put_new(entity)?, budget).await? {
            Ok(()) => Ok(Put::New),
            Err(existing) => Ok(Put::Exists(item::read(existing.unwrap_or_default())?)),
        }
    }

    /// Does one write. One request, and another each time that a transaction was in the way, within the budget.
    ///
    /// `Err` of the inner result: the condition failed, with the item as it is, if there is one.
    pub async fn write(&self, write: Write, budget: Budget) -> Result<Result<(), Option<Item>>, Error> {
        let mut attempt = 1;
        loop {
            match send(&self.0.client, &self.0.name, write.clone()).await {
                Sent::Done => return Ok(Ok(())),
                Sent::Condition(item) => return Ok(Err(item)),
                Sent::Conflict(error) if !budget.wait(attempt).await => return Err(error),
                Sent::Conflict(_) => attempt += 1,
                Sent::Failed(error) => return Err(error),
            }
        }
    }

    /// Does all of these writes or none: at most 100, each of another item. One request, and another each time that other
    /// writes were in the way, within the budget.
    ///
    /// `Err` of the inner result: nothing was written, for these causes, one for each write in order. At least one of them is a
    /// failed condition.
    ///
    /// # Errors
    /// [`Error::Throttled`] also when the budget ends in conflicts.
    pub async fn commit(&self, writes: Vec<Write>, budget: Budget) -> Result<Result<(), Vec<Cause>>, Error> {
        let actions = writes.into_iter().map(|write| write.into_action(&self.0.name));
        let actions: Vec<_> = actions.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut attempt = 1;
        loop {
            // Each call has a token of its own, so that the client's repetitions of one call count once.
            let call = self.0.client.transact_write_items().set_transact_items(Some(actions.clone()));
            let Err(error) = call.send().await else { return Ok(Ok(())) };
            let codes: Vec<_> = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap_or("None")).collect()
                }
                // An attempt of this very call is still under way. Another call would be another transaction.
                Some(TransactWriteItemsError::TransactionInProgressException(_)) => {
                    return Err(Error::Unanswered(error.into()));
                }
                _ => return Err(error.into()),
            };
            if codes.iter().any(|code| is_throttling(Some(code))) {
                return Err(Error::Throttled(error.into()));
            }
            // Before the conditions: one that failed beside a conflict may have seen half of what is being written.
            if !codes.contains(&"TransactionConflict") {
                let is_condition = codes.contains(&"ConditionalCheckFailed");
                let error = error.into_service_error();
                return if is_condition { Ok(Err(causes(error))) } else { Err(Error::Refused(error.into())) };
            }
            if !budget.wait(attempt).await {
                return Err(Error::Throttled(error.into()));
            }
            attempt += 1;
        }
    }
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

/// What came of a single write.
enum Sent {
    Done,
    Condition(Option<Item>),
    Conflict(Error),
    Failed(Error),
}

async fn send(client: &Client, table: &str, write: Write) -> Sent {
    let Expressions { condition, names, values, on_failure } = write.expressions();
    match write.act {
        Act::Put(item) => {
            let put = client.put_item().table_name(table).set_item(Some(item)).set_condition_expression(condition);
            let put = put.set_expression_attribute_names(names).set_expression_attribute_values(values);
            sent(put.set_return_values_on_condition_check_failure(on_failure).send().await)
        }
        Act::Update(key, expression) => {
            let key = Some(item::key(key).into());
            let update = client.update_item().table_name(table).set_key(key).update_expression(expression);
            let update = update.set_condition_expression(condition);
            let update = update.set_expression_attribute_names(names).set_expression_attribute_values(values);
            sent(update.set_return_values_on_condition_check_failure(on_failure).send().await)
        }
        Act::Delete(key) => {
            let delete = client.delete_item().table_name(table).set_key(Some(item::key(key).into()));
            let delete = delete.set_condition_expression(condition);
            let delete = delete.set_expression_attribute_names(names).set_expression_attribute_values(values);
            sent(delete.set_return_values_on_condition_check_failure(on_failure).send().await)
        }
        Act::Check(_) => Sent::Failed(Error::Refused("a check alone is no write".into())),
    }
}

fn sent<O, E>(outcome: Result<O, SdkError<E, HttpResponse>>) -> Sent
where
    E: ConditionFailure + ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match outcome {
        Ok(_) => Sent::Done,
        Err(SdkError::ServiceError(error)) if error.err().code() == Some("ConditionalCheckFailedException") => {
            Sent::Condition(error.into_err().into_item())
        }
        Err(error) if error.code() == Some("TransactionConflictException") => {
            Sent::Conflict(Error::Throttled(error.into()))
        }
        Err(error) => Sent::Failed(error.into()),
    }
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
