//! One write of one item. Alone it is a request of its own; several together are a transaction.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem,
    Update,
};
use key_schema::layout::{Key, Stored};

use crate::difference::Difference;
use crate::expression::{self, Expressions};
use crate::item::{self, Item};
use crate::{Condition, Error};

/// A write of one item, perhaps under a condition. In its expressions every attribute is written `#name`.
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) act: Act,
    pub(crate) condition: Option<Condition>,
}

/// A write as DynamoDB is sent it.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// Which kind of write.
    pub kind: WriteKind,
    /// The whole item of a put; the key of any other write.
    pub item: Item,
    /// The update expression.
    pub update: Option<String>,
    /// The condition expression.
    pub condition: Option<String>,
    /// The attributes' names, by their `#name` in the expressions.
    pub names: HashMap<String, String>,
    /// The `:values` of the expressions.
    pub values: Item,
}

/// The kinds of writes that DynamoDB has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteKind {
    /// Puts an item in the place of any other.
    #[default]
    Put,
    /// Changes an item, or makes it.
    Update,
    /// Deletes an item.
    Delete,
    /// Only checks the condition.
    Check,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Put(Item),
    Update(Key, &'static str),
    /// What differs is set or removed, everything else stays.
    Change(Key, Difference),
    /// The numbers are added, everything else is set.
    Add(Key, Item),
    Delete(Key),
    Check(Key),
}

impl Write {
    /// Writes the item, whether or not one is there.
    pub fn put<T: Stored>(entity: &T) -> Result<Self, Error> {
        Ok(Self { act: Act::Put(item::write(entity)?), condition: None })
    }

    /// Writes the item, if the condition holds of the one that is there. That one is replaced with all its attributes,
    /// also those that are not known here: an item that may be there is written with [`change`](Self::change) or
    /// [`set`](Self::set).
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

    /// Makes `to` of `from`, if the condition holds of the item. Writes only the attributes and nested fields in which
    /// the two differ, so that whatever a newer version has added to the item survives. Without any difference, only
    /// the condition is checked.
    ///
    /// `from` is the entity as it was read, and must serialise as it was read: a field that is filled in when it is
    /// missing must not be written inside a map that may be missing.
    ///
    /// # Errors
    /// The two have different keys.
    pub fn change<T: Stored>(from: &T, to: &T, condition: Condition) -> Result<Self, Error> {
        let key = to.key();
        if from.key() != key {
            return Err(Error::Refused("a change does not move an item".into()));
        }
        let difference = Difference::between(&item::write(from)?, &item::write(to)?);
        let act = if difference.is_empty() { Act::Check(key) } else { Act::Change(key, difference) };
        Ok(Self { act, condition: Some(condition) })
    }

    /// Sets every attribute of the entity, in the item that is there or in a new one, if the condition holds. Attributes
    /// of the item that the entity does not have are left alone.
    pub fn set<T: Stored>(entity: &T, condition: Condition) -> Result<Self, Error> {
        let key = entity.key();
        let mut attributes = item::write(entity)?;
        for (attribute, _) in item::key(key.clone()) {
            attributes.remove(&attribute);
        }
        Ok(Self { act: Act::Change(key, Difference::between(&Item::new(), &attributes)), condition: Some(condition) })
    }

    /// Adds each number of `amounts` to that of the item, which is made if there is none, and sets everything else.
    ///
    /// Nothing is read, so writes of one item do not depend on each other's order.
    pub fn add<T: Stored>(amounts: &T) -> Result<Self, Error> {
        let mut attributes = item::attributes(amounts)?;
        attributes.retain(|_, value| !matches!(value, AttributeValue::N(amount) if amount == "0"));
        Ok(Self { act: Act::Add(amounts.key(), attributes), condition: None })
    }

    /// As [`add`](Self::add), if the condition holds of the item.
    pub fn add_if<T: Stored>(amounts: &T, condition: Condition) -> Result<Self, Error> {
        Ok(Self { condition: Some(condition), ..Self::add(amounts)? })
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

    /// The write as DynamoDB is sent it: for models, which apply it to a table of their own.
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

    /// The parts of the request that all kinds of writes have in common.
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

    /// The write as a part of a transaction.
    pub(crate) fn into_action(self, table: &str) -> Result<TransactWriteItem, BuildError> {
        let Expressions { update, condition, names, values, on_failure } = self.expressions();
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

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use key_schema::entity::ProductStats;
    use key_schema::value::Currency;

    #[test]
    fn numbers_are_added_and_everything_else_is_set_and_zero_is_left_alone() {
        let euro = Currency::try_from("EUR".to_owned()).expect("a currency");
        let revenue = [(euro, -250)].into_iter().collect();
        let product_id = "teapot".parse().expect("an id");
        let stats = ProductStats { product_id, orders: 1, units: 0, revenue };
        let Expressions { update, names, values, condition, .. } = Write::add(&stats).expect("a write").expressions();
        assert_eq!(condition, None);

        // The placeholders are in no order.
        let (names, values) = (names.expect("names"), values.expect("values"));
        let mut update = update.expect("an update");
        for (placeholder, name) in &names {
            let value = &values[&placeholder.replace('#', ":")];
            let value = value.as_n().or(value.as_s()).expect("a number or a text");
            update = update.replace(placeholder, name).replace(&placeholder.replace('#', ":"), value);
        }
        let (set, added) = update.split_once(" ADD ").expect("both clauses");
        let sorted = |text: &str| {
            let mut parts: Vec<_> = text.split(", ").map(str::to_owned).collect();
            parts.sort();
            parts
        };
        assert_eq!(sorted(set.trim_start_matches("SET ")), ["EntityType = productStats", "productId = teapot"]);
        assert_eq!(sorted(added), ["orders 1", "revenue:EUR -250"]);
    }
}
