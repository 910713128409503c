//! Statements of a policy: parsing and matching.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

use super::ask::{Ask, KEYS, SEVERAL};
use super::wildcard;

/// The effect of a statement on the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// They are allowed, unless another statement denies them.
    Allow,
    /// They are refused, whatever other statements say.
    Deny,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The effect on matching calls.
    pub effect: Effect,
    /// Patterns of actions. One must match, ignoring case.
    pub actions: Vec<String>,
    /// Patterns of ARNs, one of which must match.
    pub resources: Vec<String>,
    /// All of them must hold.
    pub conditions: Vec<Condition>,
}

/// One condition on one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The comparison.
    pub operator: Operator,
    /// The condition key, for example `dynamodb:LeadingKeys`.
    pub key: &'static str,
    /// The values that the call's values are compared with.
    pub values: Vec<String>,
}

/// The comparison of a call's values with those of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `Null`: whether the key is missing.
    IsNull,
    /// `StringEquals`: literal comparison.
    Equals(Quantifier),
    /// `StringLike`: comparison with patterns.
    Like(Quantifier),
}

/// The number of the call's values that must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// The single value.
    Only,
    /// `...IfExists`: the single value, if there is one.
    IfExists,
    /// `ForAllValues`: all values. It also holds if there are none.
    All,
    /// `ForAnyValue`: at least one value.
    Any,
}

impl Statement {
    pub(super) fn read(document: &Value) -> Result<Self> {
        let fields = document.as_object().context("it is not an object")?;
        for name in fields.keys() {
            let known = ["Sid", "Effect", "Action", "Resource", "Condition"].contains(&name.as_str());
            ensure!(known, "{name} is not known to the laptop stack");
        }
        let effect = match fields.get("Effect").and_then(Value::as_str) {
            Some("Allow") => Effect::Allow,
            Some("Deny") => Effect::Deny,
            _ => bail!("Effect is neither Allow nor Deny"),
        };
        let texts = |name: &str| texts(fields.get(name).unwrap_or(&Value::Null)).context(name.to_owned());
        Ok(Self {
            effect,
            actions: texts("Action")?,
            resources: texts("Resource")?,
            conditions: match fields.get("Condition") {
                None => Vec::new(),
                Some(conditions) => Condition::read_all(conditions).context("Condition")?,
            },
        })
    }

    pub(super) fn matches(&self, ask: &Ask) -> bool {
        self.actions.iter().any(|pattern| wildcard::matches_any_case(pattern, &ask.action))
            && self.resources.iter().any(|pattern| wildcard::matches_arn(pattern, &ask.resource))
            && self.conditions.iter().all(|condition| condition.holds(ask.values(condition.key)))
    }
}

impl Condition {
    fn read_all(conditions: &Value) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for (operator, keys) in object(conditions)? {
            let compare = Operator::read(operator)?;
            for (name, values) in object(keys).context(operator.clone())? {
                let known = KEYS.into_iter().find(|key| key.eq_ignore_ascii_case(name));
                let key = known.with_context(|| format!("{operator}: no call has the key {name}"))?;
                ensure!(
                    !(compare.is_of_one_value() && SEVERAL.contains(&key)),
                    "{operator}: {key} may have several values, so it needs ForAllValues or ForAnyValue"
                );
                let values = texts(values).with_context(|| format!("{operator}: {key}"))?;
                all.push(Self { operator: compare, key, values });
            }
        }
        Ok(all)
    }

    fn holds(&self, actual: &[String]) -> bool {
        let (quantifier, like) = match self.operator {
            Operator::IsNull => return self.values.iter().any(|value| (value == "true") == actual.is_empty()),
            Operator::Equals(quantifier) => (quantifier, false),
            Operator::Like(quantifier) => (quantifier, true),
        };
        let fits = |actual: &String| {
            self.values.iter().any(|value| if like { wildcard::matches(value, actual) } else { value == actual })
        };
        match quantifier {
            Quantifier::Only => actual.len() == 1 && actual.iter().all(fits),
            Quantifier::IfExists => actual.len() <= 1 && actual.iter().all(fits),
            Quantifier::All => actual.iter().all(fits),
            Quantifier::Any => actual.iter().any(fits),
        }
    }
}

impl Operator {
    /// Whether it compares a single value.
    const fn is_of_one_value(self) -> bool {
        use Quantifier::{IfExists, Only};
        matches!(self, Self::Equals(Only | IfExists) | Self::Like(Only | IfExists))
    }

    fn read(name: &str) -> Result<Self> {
        let (quantifier, comparison) = match name.split_once(':') {
            None => match name.strip_suffix("IfExists") {
                None => (Quantifier::Only, name),
                Some(comparison) => (Quantifier::IfExists, comparison),
            },
            Some(("ForAllValues", comparison)) => (Quantifier::All, comparison),
            Some(("ForAnyValue", comparison)) => (Quantifier::Any, comparison),
            Some(_) => bail!("{name} is not known to the laptop stack"),
        };
        match (comparison, quantifier) {
            ("StringEquals", quantifier) => Ok(Self::Equals(quantifier)),
            ("StringLike", quantifier) => Ok(Self::Like(quantifier)),
            ("Null", Quantifier::Only) => Ok(Self::IsNull),
            _ => bail!("{name} is not known to the laptop stack"),
        }
    }
}

fn object(value: &Value) -> Result<&Map<String, Value>> {
    value.as_object().context("it is not an object")
}

/// A text, or a list of texts. In YAML `false` may be unquoted.
fn texts(value: &Value) -> Result<Vec<String>> {
    let list = match value {
        Value::Array(list) if !list.is_empty() => list.as_slice(),
        Value::String(_) | Value::Bool(_) => std::slice::from_ref(value),
        _ => bail!("it is neither a text nor a list of some"),
    };
    let texts = list.iter().map(|value| match value {
        // IAM substitutes policy variables for each call. Taken literally they would have another meaning.
        Value::String(text) => {
            ensure!(!text.contains("${"), "{text}: variables are not known to the laptop stack");
            Ok(text.clone())
        }
        Value::Bool(flag) => Ok(flag.to_string()),
        other => bail!("{other} is not a text"),
    });
    texts.collect()
}
