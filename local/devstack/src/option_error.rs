//! Options with values that cannot be used on this machine.

use std::error::Error;
use std::fmt;
use std::path::Path;

/// An option has a value that cannot be used here, such as a port that another program listens on. The message ends
/// with the name of the option: its field in [`Options`](crate::Options), or another name, such as a flag's.
#[derive(Debug)]
pub struct OptionError {
    option: &'static str,
    name: Option<String>,
    /// The problem and its remedy, up to the words "choose another".
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl OptionError {
    pub(crate) fn new(option: &'static str, message: impl Into<String>) -> Self {
        Self { option, name: None, message: message.into(), source: None }
    }

    /// The directory for the stack's data cannot be created or written to.
    pub(crate) fn unusable_directory(path: &Path, error: std::io::Error) -> Self {
        let message = format!("cannot use {}: choose a directory you may write to", path.display());
        Self::new("data", message).caused_by(error)
    }

    #[must_use]
    pub(crate) fn caused_by(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// The field of [`Options`](crate::Options): `dynamodb_port`.
    pub fn option(&self) -> &'static str {
        self.option
    }

    /// The same error, with the name by which the user of a program sets this option.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, name, message, .. } = self;
        match name {
            Some(name) => write!(f, "{message} with {name}"),
            None => write!(f, "{message} with Options::{option}"),
        }
    }
}

impl Error for OptionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
