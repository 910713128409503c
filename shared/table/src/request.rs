//! Writes as DynamoDB receives them.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem, Update,
};

use crate::expression::{self, Expressions};
use crate::home::Home;
use crate::item::{self, Item};
use crate::write::{Act, Write};

/// A write as DynamoDB receives it.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The kind of write.
    pub kind: WriteKind,
    /// The whole item of a put; the key of any other write.
    pub item: Item,
    /// The update expression.
    pub update: Option<String>,
    /// The condition expression.
    pub condition: Option<String>,
    /// The attributes' names, by their placeholders (`#name`) in the expressions.
    pub names: HashMap<String, String>,
    /// The `:values` of the expressions.
    pub values: Item,
}

/// DynamoDB's kinds of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteKind {
    /// Puts an item, and replaces the one that is there.
    #[default]
    Put,
    /// Changes an item, or creates it.
    Update,
    /// Deletes an item.
    Delete,
    /// Only checks the condition.
    Check,
}

impl Write {
    /// The write as DynamoDB receives it. Models use it to apply the write to a table in memory.
    pub fn rendered(&self) -> Rendered {
        let Expressions { update, condition, names, values, .. } = self.expressions();
        let (kind, item) = match &self.act {
            Act::Put(item) => (WriteKind::Put, item.clone()),
            Act::Update(key, _) | Act::Change(key, _) | Act::Add(key, _) => {
                (WriteKind::Update, item::key(key.clone()).into())
            }
            Act::Delete(key) => (WriteKind::Delete, item::key(key.clone()).into()),
            Act::Check(key) => (WriteKind::Check, item::key(key.clone()).into()),
        };
        let (names, values) = (names.unwrap_or_default(), values.unwrap_or_default());
        Rendered { kind, item, update, condition, names, values }
    }

    /// The expressions of the request, which all kinds of writes have in common.
    pub(crate) fn expressions(&self) -> Expressions {
        let mut texts: Vec<_> = self.condition.iter().map(|condition| &*condition.expression).collect();
        let mut values: Item = self.condition.iter().flat_map(|condition| condition.values.clone()).collect();
        let mut names = HashMap::new();
        let update = match &self.act {
            Act::Update(_, expression) => {
                texts.push(expression);
                Some((*expression).to_owned())
            }
            Act::Change(_, difference) => Some(difference.update(&mut names, &mut values)),
            Act::Add(_, attributes) => Some(expression::addition(attributes, &mut names, &mut values)),
            Act::Put(_) | Act::Delete(_) | Act::Check(_) => None,
        };
        let in_texts = texts.iter().flat_map(|text| expression::attributes_in(text));
        names.extend(in_texts.map(|name| (format!("#{name}"), name.to_owned())));
        names.extend(self.condition.iter().flat_map(|condition| condition.names.clone()));
        Expressions {
            update,
            condition: self.condition.as_ref().map(|condition| condition.expression.clone().into_owned()),
            names: Some(names).filter(|names| !names.is_empty()),
            values: Some(values).filter(|values| !values.is_empty()),
            on_failure: self.condition.as_ref().map(|_| OnFailure::AllOld),
        }
    }

    /// The write with the keys of this table. The keys of all other writes are canonical.
    pub(crate) fn respelled(self, home: &Home) -> Self {
        if home.is_canonical() {
            return self;
        }
        let act = match self.act {
            Act::Put(mut item) => {
                home.respell(&mut item);
                Act::Put(item)
            }
            Act::Update(key, expression) => Act::Update(home.key(key), expression),
            Act::Change(key, difference) => Act::Change(home.key(key), difference.respelled(home)),
            Act::Add(key, attributes) => Act::Add(home.key(key), attributes),
            Act::Delete(key) => Act::Delete(home.key(key)),
            Act::Check(key) => Act::Check(home.key(key)),
        };
        Self { act, ..self }
    }

    pub(crate) fn into_action(self, home: &Home) -> Result<TransactWriteItem, BuildError> {
        let write = self.respelled(home);
        let expressions = write.expressions();
        write.into_action_with(&home.name, expressions)
    }

    /// The write as an action of a transaction, with these expressions.
    pub(crate) fn into_action_with(
        self,
        table: &str,
        expressions: Expressions,
    ) -> Result<TransactWriteItem, BuildError> {
        let Expressions { update, condition, names, values, on_failure } = expressions;
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
            Act::Update(key, _) | Act::Change(key, _) | Act::Add(key, _) => action.update(
                Update::builder()
                    .table_name(table)
                    .set_key(Some(item::key(key).into()))
                    .set_update_expression(update)
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
