//! The condition of a write.

use std::borrow::Cow;

use aws_sdk_dynamodb::types::AttributeValue;
use key_schema::layout::Stored;
use serde::Serialize;

use crate::difference::Difference;
use crate::{Error, item};

/// The condition an item must meet for a write to happen, and the `:values` of all the write's expressions.
#[derive(Clone, Debug)]
pub struct Condition {
    pub(crate) expression: Cow<'static, str>,
    /// Placeholders that are not simply `#` and the attribute's name, each with its attribute.
    pub(crate) names: Vec<(String, String)>,
    pub(crate) values: Vec<(String, AttributeValue)>,
}

impl Condition {
    /// The condition `expression`, in which every attribute is written `#name`.
    pub fn new(expression: &'static str) -> Self {
        Self { expression: expression.into(), names: Vec::new(), values: Vec::new() }
    }

    /// The item must not exist.
    pub fn absent() -> Self {
        Self::new("attribute_not_exists(#PK)")
    }

    /// The item must exist.
    pub fn present() -> Self {
        Self::new("attribute_exists(#PK)")
    }

    /// The item must not be that of an erased customer. It may be absent.
    pub fn not_erased() -> Self {
        Self::new("attribute_not_exists(#erasedAt)")
    }

    /// The item must count at most so much that unpaid orders of guests hold of it.
    pub fn guests_hold_at_most(most: i64) -> Result<Self, Error> {
        Self::new("attribute_not_exists(#heldByGuests) OR #heldByGuests <= :most").value(":most", most)
    }

    /// The item must have this version: optimistic locking.
    pub fn version(version: u64) -> Result<Self, Error> {
        Self::new("#version = :version").value(":version", version)
    }

    /// The item must exist and have one of these versions, or any version if there is no list.
    pub fn versions(versions: Option<&[u64]>) -> Result<Self, Error> {
        let Some(versions) = versions else { return Ok(Self::present()) };
        if versions.is_empty() {
            return Ok(Self::new("attribute_exists(#PK) AND attribute_not_exists(#PK)"));
        }
        let names: Vec<_> = (0..versions.len()).map(|at| format!(":v{at}")).collect();
        let one_of_them = Self { expression: format!("#version IN ({})", names.join(", ")).into(), ..Self::present() };
        names.iter().zip(versions).try_fold(one_of_them, |condition, (name, version)| condition.value(name, version))
    }

    /// The item must exist, and every number of `entity` and of `others` must have the value that `entity` gives. A
    /// number that `entity` lacks must be zero. A number that the item lacks counts as zero.
    pub fn same_numbers<T: Stored>(entity: &T, others: &T) -> Result<Self, Error> {
        let zero = || AttributeValue::N("0".to_owned());
        let mut numbers = item::attributes(others)?;
        numbers.values_mut().filter(|value| value.is_n()).for_each(|value| *value = zero());
        numbers.extend(item::attributes(entity)?);
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

    /// The item must exist, and every attribute in which `from` and `to` differ must be as in `from`: optimistic
    /// locking for an entity without a version. Attributes that neither has do not matter.
    pub fn as_read<T: Stored>(from: &T, to: &T) -> Result<Self, Error> {
        let mut condition = Self::present();
        let difference = Difference::between(&item::write(from)?, &item::write(to)?);
        let terms = difference.unchanged(&mut condition.names, &mut condition.values);
        condition.expression = [vec![condition.expression.into_owned()], terms].concat().join(" AND ").into();
        Ok(condition)
    }

    /// Both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.joined("AND", other)
    }

    /// At least one of them must hold.
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

    /// Adds a `:value` for the write's expressions.
    pub fn value(mut self, name: &str, value: impl Serialize) -> Result<Self, Error> {
        self.values.push((name.to_owned(), serde_dynamo::to_attribute_value(value)?));
        Ok(self)
    }
}
