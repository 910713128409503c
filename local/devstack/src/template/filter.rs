//! The parts of Lambda's event filtering that the laptop stack supports.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

/// The pattern of one filter: conditions on fields of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    /// All of these fields must match.
    All(Vec<(String, Node)>),
    /// One of these rules must match.
    Any(Vec<Rule>),
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Exactly(Value),
    Exists(bool),
}

impl Pattern {
    /// Parses a pattern. An unknown element is an error that names it, because a pattern that is only partly understood
    /// would let the wrong records pass.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let pattern: Value = serde_json::from_str(text).with_context(|| format!("{text} is not JSON"))?;
        let fields = pattern.as_object().with_context(|| format!("{text} is not an object"))?;
        Node::fields(fields).map(Self)
    }

    pub(crate) fn matches(&self, record: &Value) -> bool {
        self.0.matches(Some(record))
    }
}

impl Node {
    fn fields(fields: &Map<String, Value>) -> Result<Self> {
        ensure!(!fields.is_empty(), "an object of the pattern is empty");
        let fields = fields.iter().map(|(name, value)| {
            ensure!(!name.starts_with('$'), "{name} is not known to the laptop stack");
            let node = match value {
                Value::Object(fields) => Self::fields(fields),
                Value::Array(rules) if !rules.is_empty() => {
                    rules.iter().map(Rule::parse).collect::<Result<_>>().map(Self::Any)
                }
                _ => bail!("{name} is neither an object nor a list of alternatives"),
            };
            Ok((name.clone(), node.with_context(|| name.clone())?))
        });
        fields.collect::<Result<_>>().map(Self::All)
    }

    fn matches(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            // One element of a list has to match.
            (Self::All(_), Some(Value::Array(elements))) => elements.iter().any(|element| self.matches(Some(element))),
            (Self::All(fields), _) => {
                fields.iter().all(|(name, node)| node.matches(value.and_then(|value| value.get(name))))
            }
            (Self::Any(rules), _) => rules.iter().any(|rule| rule.holds(value)),
        }
    }
}

impl Rule {
    fn parse(rule: &Value) -> Result<Self> {
        let Value::Object(rule) = rule else {
            ensure!(!rule.is_array(), "{rule} is a list within a list");
            return Ok(Self::Exactly(rule.clone()));
        };
        let mut parts = rule.iter();
        let (Some((name, argument)), None) = (parts.next(), parts.next()) else {
            bail!("a rule has one name, such as exists");
        };
        ensure!(name == "exists", "{name} is not known to the laptop stack: it knows exists alone");
        Ok(Self::Exists(argument.as_bool().context("exists needs true or false")?))
    }

    fn holds(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            // `exists` is about leaves only, not about objects and lists.
            (Self::Exists(wanted), Some(Value::Array(elements))) => *wanted == elements.iter().any(is_leaf),
            (Self::Exists(wanted), _) => *wanted == value.is_some_and(is_leaf),
            (_, Some(Value::Array(elements))) => elements.iter().any(|element| self.holds(Some(element))),
            (_, None | Some(Value::Object(_))) => false,
            (Self::Exactly(wanted), Some(value)) => same(wanted, value),
        }
    }
}

fn is_leaf(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Whether two values are equal. Numbers are compared by value, whatever their notation.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
