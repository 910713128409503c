//! One write of one item. A single write is a request of its own; several together are a transaction.

use aws_sdk_dynamodb::types::AttributeValue;
use key_schema::layout::{Key, Stored};

use crate::difference::Difference;
use crate::item::{self, Item};
use crate::{Condition, Error};

/// A write of one item, with an optional condition. Its expressions write every attribute as `#name`.
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) act: Act,
    pub(crate) condition: Option<Condition>,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Put(Item),
    Update(Key, &'static str),
    /// Sets or removes what differs, and leaves everything else alone.
    Change(Key, Difference),
    /// Adds the numbers, and sets everything else.
    Add(Key, Item),
    Delete(Key),
    Check(Key),
}

impl Write {
    /// Puts the item, whether or not one exists. An existing item is replaced.
    pub fn put<T: Stored>(entity: &T) -> Result<Self, Error> {
        Ok(Self { act: Act::Put(item::write(entity)?), condition: None })
    }

    /// Puts the item, if the condition holds for the existing one. The existing item is replaced, including attributes
    /// that only a newer release knows. Use [`change`](Self::change) or [`set`](Self::set) for an item that may exist.
    pub fn put_if<T: Stored>(entity: &T, condition: Condition) -> Result<Self, Error> {
        Ok(Self { act: Act::Put(item::write(entity)?), condition: Some(condition) })
    }

    /// Puts the item, unless one exists.
    pub fn put_new<T: Stored>(entity: &T) -> Result<Self, Error> {
        Self::put_if(entity, Condition::absent())
    }

    /// Applies an update expression to the item with this key, if the condition holds.
    pub fn update(key: Key, expression: &'static str, condition: Condition) -> Self {
        Self { act: Act::Update(key, expression), condition: Some(condition) }
    }

    /// Changes the item from `from` to `to`, if the condition holds. Writes only the attributes and nested fields in
    /// which the two differ, so that attributes of a newer release survive. If the two are equal, only the condition is
    /// checked.
    ///
    /// `from` is the entity as it was read, and must serialise to what the item holds. If deserialising filled in a
    /// missing map, an update of a field inside it would fail: DynamoDB requires the map to exist.
    ///
    /// # Errors
    /// The two have different keys.
    pub fn change<T: Stored>(from: &T, to: &T, condition: Condition) -> Result<Self, Error> {
        let key = to.key();
        if from.key() != key {
            return Err(Error::Refused("a change cannot move an item to another key".into()));
        }
        let difference = Difference::between(&item::write(from)?, &item::write(to)?);
        let act = if difference.is_empty() { Act::Check(key) } else { Act::Change(key, difference) };
        Ok(Self { act, condition: Some(condition) })
    }

    /// Sets every attribute of the entity, in the existing item or in a new one, if the condition holds. Other
    /// attributes of the item are left alone.
    pub fn set<T: Stored>(entity: &T, condition: Condition) -> Result<Self, Error> {
        let key = entity.key();
        let mut attributes = item::write(entity)?;
        for (attribute, _) in item::key(key.clone()) {
            attributes.remove(&attribute);
        }
        Ok(Self { act: Act::Change(key, Difference::between(&Item::new(), &attributes)), condition: Some(condition) })
    }

    /// Adds each number of `amounts` to the item's number, and sets every other attribute. Creates the item if it does
    /// not exist.
    ///
    /// Additions commute, so concurrent writes of one item need no order.
    pub fn add<T: Stored>(amounts: &T) -> Result<Self, Error> {
        let mut attributes = item::attributes(amounts)?;
        attributes.retain(|_, value| !matches!(value, AttributeValue::N(amount) if amount == "0"));
        Ok(Self { act: Act::Add(amounts.key(), attributes), condition: None })
    }

    /// [`add`](Self::add), if the condition holds.
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

    /// Writes nothing, but cancels the transaction if the condition fails.
    pub fn check(key: Key, condition: Condition) -> Self {
        Self { act: Act::Check(key), condition: Some(condition) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::expression::Expressions;
    use key_schema::entity::ProductStats;
    use key_schema::value::Currency;

    #[test]
    fn add_adds_numbers_skips_zeros_and_sets_every_other_attribute() {
        let euro = Currency::try_from("EUR".to_owned()).expect("a currency");
        let revenue = [(euro, -250)].into_iter().collect();
        let product_id = "teapot".parse().expect("an id");
        let stats = ProductStats { product_id, orders: 1, units: 0, revenue };
        let Expressions { update, names, values, condition, .. } = Write::add(&stats).expect("a write").expressions();
        assert_eq!(condition, None);

        // The placeholders' order is random.
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
