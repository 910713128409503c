//! The functions that this build has, by the names of their binaries.

use crate::gateway::Invoke;
use crate::template::Template;

/// Every function, as it would run on Lambda, but against this DynamoDB.
pub fn functions(_dynamodb_url: &str, _table: &str, _template: &Template) -> Vec<(String, Invoke)> {
    Vec::new()
}
