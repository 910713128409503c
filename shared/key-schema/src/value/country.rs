//! Countries.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Invalid;

/// A country: two capital letters, as in ISO 3166-1 alpha-2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, pattern = "^[A-Z]{2}$", example = "DE")]
pub struct Country([u8; 2]);

impl TryFrom<String> for Country {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        match <[u8; 2]>::try_from(text.as_bytes()) {
            Ok(letters) if letters.iter().all(u8::is_ascii_uppercase) => Ok(Self(letters)),
            _ => Err(Invalid::new("country must be two capital letters, like DE")),
        }
    }
}

impl From<Country> for String {
    fn from(country: Country) -> Self {
        country.to_string()
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
