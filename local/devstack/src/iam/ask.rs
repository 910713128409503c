//! Authorisation requests: what IAM decides about one call.

use std::collections::BTreeMap;
use std::fmt;

/// The partition keys of the call's items. For a Query of an index, the index's partition key.
pub(super) const LEADING_KEYS: &str = "dynamodb:LeadingKeys";
/// Every top-level attribute that a call names.
pub(super) const ATTRIBUTES: &str = "dynamodb:Attributes";
/// The transaction that an item is read or written in.
pub(super) const ENCLOSING_OPERATION: &str = "dynamodb:EnclosingOperation";
/// The attributes that a read returns.
pub(super) const SELECT: &str = "dynamodb:Select";
/// The attributes that a write returns.
pub(super) const RETURN_VALUES: &str = "dynamodb:ReturnValues";
pub(super) const RETURN_CONSUMED_CAPACITY: &str = "dynamodb:ReturnConsumedCapacity";
pub(super) const SOURCE: &str = "events:source";
pub(super) const DETAIL_TYPE: &str = "events:detail-type";

/// Every condition key that is known here.
pub(super) const KEYS: [&str; 8] = [
    LEADING_KEYS,
    ATTRIBUTES,
    ENCLOSING_OPERATION,
    SELECT,
    RETURN_VALUES,
    RETURN_CONSUMED_CAPACITY,
    SOURCE,
    DETAIL_TYPE,
];

/// The condition keys with several values. A condition on them must say whether all values or any value must match.
pub(super) const SEVERAL: [&str; 2] = [LEADING_KEYS, ATTRIBUTES];

/// One question to IAM: whether the caller may perform an action on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// The action, for example `dynamodb:Query`.
    pub action: String,
    /// The ARN of the table, index, stream, queue or bus.
    pub resource: String,
    /// The values of each condition key. A key without values is absent.
    pub context: BTreeMap<&'static str, Vec<String>>,
}

impl Ask {
    pub(super) fn new(service: &str, action: &str, resource: String) -> Self {
        Self { action: format!("{service}:{action}"), resource, context: BTreeMap::new() }
    }

    /// Adds these values of the key, if there are any.
    pub(super) fn with(mut self, key: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<_> = values.into_iter().collect();
        if !values.is_empty() {
            self.context.insert(key, values);
        }
        self
    }

    /// The values of a condition key. Empty if the key is absent.
    pub fn values(&self, key: &str) -> &[String] {
        self.context.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", self.action, self.resource)?;
        // The names of attributes would be too long for a log line.
        for (key, values) in self.context.iter().filter(|(key, _)| **key != ATTRIBUTES) {
            write!(formatter, ", {key} {values:?}")?;
        }
        Ok(())
    }
}
