//! Under which condition an item is written.

use std::borrow::Cow;

use aws_sdk_dynamodb::types::AttributeValue;
use key_schema::layout::Stored;
use serde::Serialize;

use crate::difference::Difference;
use crate::{Error, item};

/// What must hold of an item for a write to happen, and the `:values` of all the write's expressions.
#[derive(Clone, Debug)]
pub struct Condition {
    pub(crate) expression: Cow<'static, str>,
    /// The attributes that have another name in the expression than their own.
    pub(crate) names: Vec<(String, String)>,
    pub(crate) values: Vec<(String, AttributeValue)>,
}

impl Condition {
    /// This expression must hold.
    pub fn new(expression: &'static str) -> Self {
        Self { expression: expression.into(), names: Vec::new(), values: Vec::new() }
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

    /// The item must be there, and each of its numbers, and each that `others` has, must be what `entity` says:
    /// zero where it says nothing. One that is not written is zero, too.
    pub fn same_numbers<T: Stored>(entity: Option<&T>, others: &T) -> Result<Self, Error> {
        let zero = || AttributeValue::N("0".to_owned());
        let mut numbers = item::attributes(others)?;
        numbers.values_mut().filter(|value| value.is_n()).for_each(|value| *value = zero());
        numbers.extend(entity.map(item::attributes).transpose()?.unwrap_or_default());
        numbers.retain(|_, value| value.is_n());
        let mut condition = Self::present();
        let mut terms = vec![condition.expression.into_owned()];
        for (at, (name, value)) in numbers.into_iter().enumerate() {
            let is_same = format!("#c{at} = :c{at}");
            let is_zero = value == zero();
            terms.push(if is_zero { format!("(attribute_not_exists(#c{at}) OR {is_same})") } else { is_same });
            condition.names.push((format!("#c{at}"), name));
            condition.values.push((format!(":c{at}"), value));
        }
        condition.expression = terms.join(" AND ").into();
        Ok(condition)
    }

    /// The item must be there, and everything in which `from` and `to` differ must be as `from` has it: optimistic
    /// locking for an entity without a version. Attributes that neither knows do not matter.
    pub fn as_read<T: Stored>(from: &T, to: &T) -> Result<Self, Error> {
        let mut condition = Self::present();
        let difference = Difference::between(&item::write(from)?, &item::write(to)?);
        let terms = difference.as_before(&mut condition.names, &mut condition.values);
        condition.expression = [vec![condition.expression.into_owned()], terms].concat().join(" AND ").into();
        Ok(condition)
    }

    /// Both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.joined("AND", other)
    }

    /// One of them must hold.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.joined("OR", other)
    }

    fn joined(mut self, operator: &str, other: Self) -> Self {
        self.expression = format!("({}) {operator} ({})", self.expression, other.expression).into();
        self.names.extend(other.names);
        self.values.extend(other.values);
        self
    }

    /// Gives a `:value` of the expressions.
    pub fn value(mut self, name: &str, value: impl Serialize) -> Result<Self, Error> {
        self.values.push((name.to_owned(), serde_dynamo::to_attribute_value(value)?));
        Ok(self)
    }
}
