//! Expressions, and the names and values in them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure as OnFailure};

use crate::item::Item;

/// What a write says besides its key or its item.
pub(crate) struct Expressions {
    pub(crate) update: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) names: Option<HashMap<String, String>>,
    pub(crate) values: Option<Item>,
    pub(crate) on_failure: Option<OnFailure>,
}

/// The attribute names in an expression: what follows each `#`.
pub(crate) fn attributes_in(expression: &str) -> impl Iterator<Item = &str> {
    expression.split('#').skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
}

/// The update that adds numbers and sets everything else. What an attribute is called may be nothing that an
/// expression can hold.
pub(crate) fn addition(attributes: &Item, names: &mut HashMap<String, String>, values: &mut Item) -> String {
    let (mut set, mut added) = (Vec::new(), Vec::new());
    for (at, (name, value)) in attributes.iter().enumerate() {
        match value {
            AttributeValue::N(_) => added.push(format!("#a{at} :a{at}")),
            _ => set.push(format!("#a{at} = :a{at}")),
        }
        names.insert(format!("#a{at}"), name.clone());
        values.insert(format!(":a{at}"), value.clone());
    }
    let clauses = [("SET", set), ("ADD", added)].into_iter().filter(|(_, parts)| !parts.is_empty());
    let clauses: Vec<_> = clauses.map(|(clause, parts)| format!("{clause} {}", parts.join(", "))).collect();
    clauses.join(" ")
}

#[cfg(test)]
mod tests {
    use super::attributes_in;

    #[test]
    fn every_attribute_of_an_expression_is_named() {
        let found: Vec<_> = attributes_in("SET #balance.#amount = #balance.#amount - :a, #to=:t").collect();
        assert_eq!(found, ["balance", "amount", "balance", "amount", "to"]);
    }
}
