//! Environment variables.

use std::collections::HashMap;

/// A variable is missing or invalid. The message names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misconfigured {
    /// The variable is not set.
    #[error("the environment variable {0} is not set")]
    Missing(String),
    /// What is set makes no sense.
    #[error("{0}")]
    Invalid(String),
}

/// Environment variables, by name. An empty one counts as missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(HashMap<String, String>);

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl Extend<(String, String)> for Variables {
    fn extend<I: IntoIterator<Item = (String, String)>>(&mut self, variables: I) {
        self.0.extend(variables);
    }
}

impl Variables {
    pub(crate) fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a variable that may be empty, but must be set.
    pub(crate) fn declared(&self, name: &str) -> Result<Option<&str>, Misconfigured> {
        let value = self.0.get(name).ok_or_else(|| Misconfigured::Missing(name.to_owned()))?;
        Ok(Some(value.as_str()).filter(|value| !value.is_empty()))
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, Misconfigured> {
        self.optional(name).ok_or_else(|| Misconfigured::Missing(name.to_owned()))
    }
}

/// The function's name in the code, which is the `Handler` in `template.yaml`.
///
/// # Errors
/// `_HANDLER` is not set: the process was not started by Lambda.
pub fn handler() -> Result<String, Misconfigured> {
    std::env::var("_HANDLER").map_err(|_| Misconfigured::Missing("_HANDLER".to_owned()))
}
