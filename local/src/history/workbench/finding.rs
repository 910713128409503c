//! What is to be said about an item of a model.

use std::fmt::{self, Display, Formatter};

use super::{Numbered, Place};

/// Something about a model that an import should not pass over in silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    /// The item, with its table, its number and its key; empty if the finding is about the model itself.
    pub item: String,
    /// The item's table and number.
    pub(super) place: Option<Place>,
    pub text: String,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Till needs a value that the model does not have, and this one is taken.
    MadeUp,
    /// Till has no use for a part of the model.
    Unused,
    /// Two parts of the model contradict each other. If the record then breaks a law, it is refused.
    Contradiction,
    /// The item is not imported.
    LeftOut,
}

impl Finding {
    pub(super) fn about(item: &Numbered, kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, item: item.to_string(), place: Some(item.place()), text: text.into() }
    }

    /// A part of the model that is not used.
    pub(super) fn of_model(text: String) -> Self {
        Self { kind: Kind::Unused, item: String::new(), place: None, text }
    }
}

impl Display for Numbered {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { number, table, key, .. } = self;
        write!(f, "{table}, item {number} ({})", key.join(", "))
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::MadeUp => "made up",
            Kind::Unused => "not used",
            Kind::Contradiction => "does not add up",
            Kind::LeftOut => "left out",
        };
        if self.item.is_empty() {
            write!(f, "{kind}: {}", self.text)
        } else {
            write!(f, "{}: {kind}: {}", self.item, self.text)
        }
    }
}
