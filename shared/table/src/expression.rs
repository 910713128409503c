//! DynamoDB expressions, with their names and values.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure as OnFailure};

use crate::item::Item;

/// The parts of a write's request besides its key or its item.
pub(crate) struct Expressions {
    pub(crate) update: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) names: Option<HashMap<String, String>>,
    pub(crate) values: Option<Item>,
    pub(crate) on_failure: Option<OnFailure>,
}

impl Expressions {
    /// Adds a term to the condition.
    pub(crate) fn require(&mut self, term: &str) {
        self.condition = Some(match self.condition.take() {
            Some(condition) => format!("({condition}) AND {term}"),
            None => term.to_owned(),
        });
        let names = self.names.get_or_insert_default();
        names.extend(attributes_in(term).map(|name| (format!("#{name}"), name.to_owned())));
        self.on_failure = Some(OnFailure::AllOld);
    }

    pub(crate) fn also_set(&mut self, attribute: &str, value: AttributeValue) {
        self.update = self.update.take().map(|update| with_set(&update, &format!("#{attribute} = :{attribute}")));
        self.names.get_or_insert_default().insert(format!("#{attribute}"), attribute.to_owned());
        self.values.get_or_insert_default().insert(format!(":{attribute}"), value);
    }
}

/// An update expression with one more term of its `SET` clause, of which there can be only one.
fn with_set(update: &str, term: &str) -> String {
    let begins = if update.starts_with("SET ") { Some(0) } else { update.find(" SET ").map(|at| at + 1) };
    match begins.map(|at| update.split_at(at + "SET ".len())) {
        Some((before, terms)) => format!("{before}{term}, {terms}"),
        None => format!("SET {term} {update}"),
    }
}

/// The attribute names in an expression: what follows each `#`.
pub(crate) fn attributes_in(expression: &str) -> impl Iterator<Item = &str> {
    expression.split('#').skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
}

/// The update expression that adds the numbers and sets every other attribute. Every name has a placeholder: it may be
/// a reserved word or have characters that an expression does not allow.
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
    join_clauses([("SET", set), ("ADD", added)])
}

/// An update expression of these clauses, each a keyword with its terms. A clause without terms is left out.
pub(crate) fn join_clauses(clauses: [(&str, Vec<String>); 2]) -> String {
    let clauses = clauses.into_iter().filter(|(_, terms)| !terms.is_empty());
    clauses.map(|(keyword, terms)| format!("{keyword} {}", terms.join(", "))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{attributes_in, with_set};

    #[test]
    fn a_term_joins_the_set_clause_or_makes_one() {
        let with = |update| with_set(update, "#c = :c");
        assert_eq!(with("SET #a = #a - :a ADD #b :b"), "SET #c = :c, #a = #a - :a ADD #b :b");
        assert_eq!(with("ADD #b :b SET #a = :a"), "ADD #b :b SET #c = :c, #a = :a");
        assert_eq!(with("ADD #SET :b REMOVE #SET"), "SET #c = :c ADD #SET :b REMOVE #SET");
    }

    #[test]
    fn every_attribute_in_an_expression_is_found() {
        let found: Vec<_> = attributes_in("SET #balance.#amount = #balance.#amount - :a, #to=:t").collect();
        assert_eq!(found, ["balance", "amount", "balance", "amount", "to"]);
    }
}
