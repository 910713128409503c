//! One write of one item. Alone it is a request of its own; several together are a transaction.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem,
    Update,
};
use key_schema::layout::{Key, Stored};
use serde::Serialize;

use crate::Error;
use crate::item::{self, Item};

/// A write of one item, perhaps under a condition. In its expressions every attribute is written `#name`.
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) act: Act,
    pub(crate) condition: Option<Condition>,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Put(Item),
    Update(Key, &'static str),
    Delete(Key),
    Check(Key),
}

/// What must hold of an item for a write to happen, and the `:values` of all the write's expressions.
#[derive(Clone, Debug)]
pub struct Condition {
    pub(crate) expression: &'static str,
    values: Vec<(String, AttributeValue)>,
}

impl Condition {
    /// This expression must hold.
    pub fn new(expression: &'static str) -> Self {
        Self { expression, values: Vec::new() }
    }

    /// There must be no such item.
    pub fn absent() -> Self {
        Self::new("attribute_not_exists(#PK)")
    }

    /// There must be such an item.
    pub fn present() -> Self {
        Self::new("attribute_exists(#PK)")
    }

    /// The item must have this version: optimistic locking.
    pub fn version(version: u64) -> Result<Self, Error> {
        Self::new("#version = :version").value(":version", version)
    }

    /// Gives a `:value` of the expressions.
    pub fn value(mut self, name: &str, value: impl Serialize) -> Result<Self, Error> {
        self.values.push((name.to_owned(), serde_dynamo::to_attribute_value(value)?));
        Ok(self)
    }
}

impl Write {
    /// Writes the item, whether or not one is there.
    pub fn put<T: Stored>(entity: &T) -> Result<Self, Error> {
        Ok(Self { act: Act::Put(item::write(entity)?), condition: None })
    }

    /// Writes the item, if the condition holds of the one that is there.
    pub fn put_if<T: Stored>(entity: &T, condition: Condition) -> Result<Self, Error> {
        Ok(Self { act: Act::Put(item::write(entity)?), condition: Some(condition) })
    }

    /// Writes the item, unless one is there.
    pub fn put_new<T: Stored>(entity: &T) -> Result<Self, Error> {
        Self::put_if(entity, Condition::absent())
    }

    /// Changes the item with this key as `expression` says, if the condition holds.
    pub fn update(key: Key, expression: &'static str, condition: Condition) -> Self {
        Self { act: Act::Update(key, expression), condition: Some(condition) }
    }

    /// Deletes the item with this key, if there is one.
    pub fn delete(key: Key) -> Self {
        Self { act: Act::Delete(key), condition: None }
    }

    /// Deletes the item with this key, if the condition holds.
    pub fn delete_if(key: Key, condition: Condition) -> Self {
        Self { act: Act::Delete(key), condition: Some(condition) }
    }

    /// Leaves the item as it is: the condition must hold for the rest of the transaction.
    pub fn check(key: Key, condition: Condition) -> Self {
        Self { act: Act::Check(key), condition: Some(condition) }
    }

    /// The parts of the request that all kinds of writes have in common.
    pub(crate) fn expressions(&self) -> Expressions {
        let mut texts = vec![];
        if let Act::Update(_, expression) = self.act {
            texts.push(expression);
        }
        texts.extend(self.condition.as_ref().map(|condition| condition.expression));
        let names = texts.iter().flat_map(|text| names(text)).map(|name| (format!("#{name}"), name.to_owned()));
        let values = self.condition.iter().flat_map(|condition| condition.values.clone());
        Expressions {
            condition: self.condition.as_ref().map(|condition| condition.expression.to_owned()),
            names: Some(names.collect()).filter(|_| !texts.is_empty()),
            values: Some(values.collect()).filter(|values: &Item| !values.is_empty()),
            on_failure: self.condition.as_ref().map(|_| OnFailure::AllOld),
        }
    }

    /// The write as a part of a transaction.
    pub(crate) fn into_action(self, table: &str) -> Result<TransactWriteItem, BuildError> {
        let Expressions { condition, names, values, on_failure } = self.expressions();
        let action = TransactWriteItem::builder();
        let action = match self.act {
            Act::Put(item) => action.put(
                Put::builder()
                    .table_name(table)
                    .set_item(Some(item))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(on_failure)
                    .build()?,
            ),
            Act::Update(key, expression) => action.update(
                Update::builder()
                    .table_name(table)
                    .set_key(Some(item::key(key).into()))
                    .update_expression(expression)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(on_failure)
                    .build()?,
            ),
            Act::Delete(key) => action.delete(
                Delete::builder()
                    .table_name(table)
                    .set_key(Some(item::key(key).into()))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(on_failure)
                    .build()?,
            ),
            Act::Check(key) => action.condition_check(
                ConditionCheck::builder()
                    .table_name(table)
                    .set_key(Some(item::key(key).into()))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(on_failure)
                    .build()?,
            ),
        };
        Ok(action.build())
    }
}

pub(crate) struct Expressions {
    pub(crate) condition: Option<String>,
    pub(crate) names: Option<std::collections::HashMap<String, String>>,
    pub(crate) values: Option<Item>,
    pub(crate) on_failure: Option<OnFailure>,
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
