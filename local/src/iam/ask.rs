//! What IAM is asked about one call.

use std::collections::BTreeMap;
use std::fmt;

/// The partition keys of the items that a call is about. For a Query of an index, of the index.
pub(super) const LEADING_KEYS: &str = "dynamodb:LeadingKeys";
/// Every top-level attribute that a call names.
pub(super) const ATTRIBUTES: &str = "dynamodb:Attributes";
/// The transaction that an item is read or written in.
pub(super) const ENCLOSING_OPERATION: &str = "dynamodb:EnclosingOperation";
/// What the call asks to be given of the items that it finds.
pub(super) const SELECT: &str = "dynamodb:Select";
/// What the call asks to be given of the item that it writes.
pub(super) const RETURN_VALUES: &str = "dynamodb:ReturnValues";
/// What the call asks to be told of its price.
pub(super) const RETURN_CONSUMED_CAPACITY: &str = "dynamodb:ReturnConsumedCapacity";
/// Where an event comes from.
pub(super) const SOURCE: &str = "events:source";
/// What kind of event it is.
pub(super) const DETAIL_TYPE: &str = "events:detail-type";

/// Every condition key that a call may have here.
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

/// Those that may have several values, for which a condition has to say whether all of them or any must match.
pub(super) const SEVERAL: [&str; 2] = [LEADING_KEYS, ATTRIBUTES];

/// One question to IAM: whether the caller may do this, with that.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// `dynamodb:Query`.
    pub action: String,
    /// The ARN of the table, index, stream, queue or bus.
    pub resource: String,
    /// The values of each condition key. A key without values is not there.
    pub context: BTreeMap<&'static str, Vec<String>>,
}

impl Ask {
    pub(super) fn new(service: &str, action: &str, resource: String) -> Self {
        Self { action: format!("{service}:{action}"), resource, context: BTreeMap::new() }
    }

    /// With these values of the key, if there are any.
    pub(super) fn with(mut self, key: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<_> = values.into_iter().collect();
        if !values.is_empty() {
            self.context.insert(key, values);
        }
        self
    }

    /// The values of a condition key; none if it is not there.
    pub fn values(&self, key: &str) -> &[String] {
        self.context.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", self.action, self.resource)?;
        // The names of attributes would hide the rest.
        for (key, values) in self.context.iter().filter(|(key, _)| **key != ATTRIBUTES) {
            write!(formatter, ", {key} {values:?}")?;
        }
        Ok(())
    }
}
