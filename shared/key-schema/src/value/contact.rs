//! E-mail addresses and usernames: kept as given, unique without regard to case.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Invalid, KeyPart};

/// An e-mail address, as its owner writes it.
///
/// In keys it stands in lower case, so `Ada@example.com` and `ada@example.com` are one claim. An address with `#`,
/// which the standard allows and hardly anybody has, is refused: `#` separates the parts of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, format = "email")]
pub struct EmailAddress(String);

impl TryFrom<String> for EmailAddress {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        if email_address::EmailAddress::is_valid(&text) && !text.contains('#') && !text.contains(char::is_whitespace) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("email must be an address like ada@example.com"))
        }
    }
}

/// A username, as its owner writes it: 1 to 64 characters of `[A-Za-z0-9._-]`. In keys it stands in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, pattern = "^[A-Za-z0-9._-]{1,64}$")]
pub struct Username(String);

impl TryFrom<String> for Username {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("username must be 1 to 64 characters of A-Z, a-z, 0-9, ., _ and -"))
        }
    }
}

macro_rules! claimable {
    ($($name:ident)+) => {$(
        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::try_from(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl KeyPart for $name {
            fn write_to(&self, key: &mut String) {
                key.extend(self.0.chars().flat_map(char::to_lowercase));
            }
        }
    )+};
}

claimable!(EmailAddress Username);
