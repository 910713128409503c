//! Text for people to read.

use serde::Deserialize;
use utoipa::ToSchema;

use super::Invalid;

/// A name of something: 1 to 200 characters on one line, spaces around it taken off.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, min_length = 1, max_length = 200)]
pub struct Name(String);

/// A longer text: up to 5,000 characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, max_length = 5000)]
pub struct Description(String);

impl TryFrom<String> for Name {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let text = text.trim();
        if (1..=200).contains(&text.chars().count()) && !text.contains(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("a name must be 1 to 200 characters on one line"))
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Description {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let allowed = |c: char| !c.is_control() || c == '\n' || c == '\t';
        if text.chars().count() <= 5000 && text.chars().all(allowed) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("a description must be at most 5000 characters, without control characters"))
        }
    }
}

impl From<Description> for String {
    fn from(description: Description) -> Self {
        description.0
    }
}
