//! Writing: one item under a condition, or many in one transaction.

use aws_sdk_dynamodb::error::{BuildError, SdkError};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeValue, Put as SdkPut, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem,
    Update as SdkUpdate,
};
use key_schema::layout::{Key, Stored};
use serde::Serialize;

use crate::error::is_throttling;
use crate::item::{self, Item};
use crate::{Budget, Environment, Error, FromEnvironment, Misconfigured, Table};

const NOT_THERE: &str = "attribute_not_exists(PK)";

/// May write the table: PutItem and TransactWriteItems.
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

/// Why one action of a transaction stopped all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// It did not.
    None,
    /// Its condition failed; with the item as it is, if there is one.
    Condition(Option<Item>),
}

/// Writes that happen together or not at all: at most 100, each of another item.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    actions: Vec<Action>,
}

#[derive(Clone, Debug)]
enum Action {
    Put { item: Item, condition: Option<&'static str> },
    Update(Update),
}

/// A conditional change of one item. In its expressions every attribute is written `#name`.
#[derive(Clone, Debug)]
pub struct Update {
    key: Key,
    expression: &'static str,
    condition: &'static str,
    values: Vec<(String, AttributeValue)>,
}

impl Writer {
    /// Writes an item unless one with its key is there. One request.
    ///
    /// A caller whose first attempt was cut off finds its own item: compare what exists with what was to be written.
    pub async fn put_new<T: Stored>(&self, entity: &T) -> Result<Put<T>, Error> {
        let put = self
            .0
            .client
            .put_item()
            .table_name(&*self.0.name)
            .set_item(Some(item::write(entity)?))
            .condition_expression(NOT_THERE)
            .return_values_on_condition_check_failure(OnFailure::AllOld);
        match put.send().await {
            Ok(_) => Ok(Put::New),
            Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => {
                match error.into_err() {
                    PutItemError::ConditionalCheckFailedException(failed) => {
                        Ok(Put::Exists(item::read(failed.item.unwrap_or_default())?))
                    }
                    error => Err(Error::Refused(error.into())),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Commits the transaction. One request, and another each time that other writes were in the way, within the budget.
    ///
    /// `Err` of the inner result: nothing was written, for these causes, one for each action in order. At least one of them is
    /// a failed condition.
    ///
    /// # Errors
    /// [`Error::Throttled`] also when the budget ends in conflicts.
    pub async fn commit(&self, transaction: Transaction, budget: Budget) -> Result<Result<(), Vec<Cause>>, Error> {
        let actions = transaction.actions.into_iter().map(|action| action.into_sdk(&self.0.name));
        let actions: Vec<_> = actions.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut attempt = 1;
        loop {
            // Each call has a token of its own, so that the client's repetitions of one call count once.
            let call = self.0.client.transact_write_items().set_transact_items(Some(actions.clone()));
            let Err(error) = call.send().await else { return Ok(Ok(())) };
            let codes = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap_or("None")).collect()
                }
                Some(TransactWriteItemsError::TransactionInProgressException(_)) => vec!["TransactionConflict"],
                _ => return Err(error.into()),
            };
            if codes.contains(&"ConditionalCheckFailed") {
                return Ok(Err(causes(error.into_service_error())));
            }
            if codes.iter().any(|code| is_throttling(Some(code))) {
                return Err(Error::Throttled(error.into()));
            }
            if !codes.contains(&"TransactionConflict") {
                return Err(Error::Refused(error.into()));
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

impl Transaction {
    /// Writes the item, whether or not one is there.
    pub fn put<T: Stored>(&mut self, entity: &T) -> Result<(), Error> {
        self.actions.push(Action::Put { item: item::write(entity)?, condition: None });
        Ok(())
    }

    /// Writes the item; the condition is that none is there. The cause of a failure holds the one that is.
    pub fn put_new<T: Stored>(&mut self, entity: &T) -> Result<(), Error> {
        self.actions.push(Action::Put { item: item::write(entity)?, condition: Some(NOT_THERE) });
        Ok(())
    }

    /// Changes an item under a condition. The cause of a failure holds the item as it is.
    pub fn update(&mut self, update: Update) {
        self.actions.push(Action::Update(update));
    }
}

impl Action {
    fn into_sdk(self, table: &str) -> Result<TransactWriteItem, BuildError> {
        let action = TransactWriteItem::builder();
        let action = match self {
            Self::Put { item, condition } => {
                let put = SdkPut::builder()
                    .table_name(table)
                    .set_item(Some(item))
                    .set_condition_expression(condition.map(str::to_owned))
                    .set_return_values_on_condition_check_failure(condition.map(|_| OnFailure::AllOld));
                action.put(put.build()?)
            }
            Self::Update(update) => {
                let names = names(update.expression).chain(names(update.condition));
                let sdk = SdkUpdate::builder()
                    .table_name(table)
                    .set_key(Some(Item::from(item::key(update.key))))
                    .update_expression(update.expression)
                    .condition_expression(update.condition)
                    .set_expression_attribute_names(Some(names.map(|name| (format!("#{name}"), name.into())).collect()))
                    .set_expression_attribute_values(Some(update.values.into_iter().collect()))
                    .return_values_on_condition_check_failure(OnFailure::AllOld);
                action.update(sdk.build()?)
            }
        };
        Ok(action.build())
    }
}

impl Update {
    /// Changes the item with this key as `expression` says, if `condition` holds. An item that is not there fails it.
    pub fn new(key: Key, expression: &'static str, condition: &'static str) -> Self {
        Self { key, expression, condition, values: Vec::new() }
    }

    /// Gives a `:value` of the expressions.
    pub fn value(mut self, name: &'static str, value: impl Serialize) -> Result<Self, Error> {
        self.values.push((name.to_owned(), serde_dynamo::to_attribute_value(value)?));
        Ok(self)
    }
}

/// The attribute names in an expression: what follows each `#`.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    expression.split('#').skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn every_attribute_of_an_expression_is_named() {
        let found: Vec<_> = names("SET #balance.#amount = #balance.#amount - :a, #to=:t").collect();
        assert_eq!(found, ["balance", "amount", "balance", "amount", "to"]);
    }
}
