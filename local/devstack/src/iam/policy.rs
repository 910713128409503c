//! Policies: lists of statements.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::ask::Ask;
use super::statement::{Effect, Statement};

/// A policy document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Its statements. Their sequence has no meaning.
    pub statements: Vec<Statement>,
}

impl Policy {
    pub(crate) fn read(document: &Value) -> Result<Self> {
        ensure!(document["Version"] == "2012-10-17", "Version is not 2012-10-17");
        let statements = match &document["Statement"] {
            Value::Array(list) => list.as_slice(),
            Value::Null => &[],
            single => std::slice::from_ref(single),
        };
        ensure!(!statements.is_empty(), "Statement is missing");
        let statements = statements
            .iter()
            .enumerate()
            .map(|(position, statement)| Statement::read(statement).with_context(|| format!("Statement[{position}]")));
        Ok(Self { statements: statements.collect::<Result<_>>()? })
    }
}

/// Whether these policies of one role allow the request: a statement allows it, and none denies it.
pub fn permit(policies: &[Policy], ask: &Ask) -> bool {
    let matching = policies.iter().flat_map(|policy| &policy.statements).filter(|statement| statement.matches(ask));
    let mut effects = matching.map(|statement| statement.effect).peekable();
    effects.peek().is_some() && effects.all(|effect| effect == Effect::Allow)
}
