//! E-mail addresses and usernames. They keep the case in which they were given, but are unique regardless of case.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::{Invalid, KeyPart};

/// An e-mail address.
///
/// An address is accepted in one spelling only, so that it belongs to one account: in ASCII, without quotes, at a host
/// name of at least two labels. A host name in another script must have its ASCII form (`xn--`), as browsers send it.
/// In keys the address is in lower case, so `Ada@example.com` and `ada@example.com` are the same claim. `#` is refused,
/// because it separates the parts of keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(
    value_type = String,
    format = "email",
    max_length = 254,
    pattern = "^(?=.{1,64}@)[A-Za-z0-9!$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$",
    example = "ada@example.com"
)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Whether both are one address. As in keys, the case does not count.
    pub fn is_same(&self, other: &Self) -> bool {
        let lower = |address: &Self| address.0.chars().flat_map(char::to_lowercase).collect::<String>();
        lower(self) == lower(other)
    }

    /// Deserializes a stored address, without validation.
    ///
    /// # Errors
    /// The value is not a string.
    pub(crate) fn stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl TryFrom<String> for EmailAddress {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        match text.split_once('@') {
            Some((mailbox, host)) if text.len() <= 254 && is_mailbox(mailbox) && is_host(host) => Ok(Self(text)),
            _ => Err(not_an_address()),
        }
    }
}

fn not_an_address() -> Invalid {
    Invalid::new("email must be an address like ada@example.com, in ASCII and without quotes")
}

/// A dot-atom (RFC 5322, 3.2.3) without `#`, of at most 64 characters.
fn is_mailbox(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!$%&'*+/=?^_`{|}~-".contains(&byte);
    text.len() <= 64 && text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(allowed))
}

/// At least two labels of letters, digits and inner hyphens (RFC 1123, 2.1).
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.contains('.') && text.split('.').all(is_label)
}

/// A username: 1 to 64 characters of `[A-Za-z0-9._-]`. In keys it is in lower case.
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
        impl KeyPart for $name {
            fn write_to(&self, key: &mut String) {
                key.extend(self.0.chars().flat_map(char::to_lowercase));
            }
        }
    )+};
}

values!(parsed: EmailAddress Username);
values!(shown: EmailAddress Username);
claimable!(EmailAddress Username);

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_address_has_only_one_valid_spelling() {
        for text in ["ada@example.com", "Ada@Example.com", "a.b+c/d@xn--exmple-cua.com", "o'neil@a-b.c3"] {
            assert!(text.parse::<EmailAddress>().is_ok(), "{text}");
        }
        let long = format!("{}@example.com", "x".repeat(65));
        for text in [
            "\"ada\"@example.com",
            "a@ex\u{e4}mple.com",
            "\u{e4}@example.com",
            "x@[]",
            "x@[127.0.0.1]",
            "ada@localhost",
            "ada@example.com.",
            "ada@.example.com",
            "ada@-a.com",
            "ada@a_b.com",
            ".ada@example.com",
            "a..b@example.com",
            "a@b@example.com",
            "a b@example.com",
            "a#b@example.com",
            "@example.com",
            "ada@",
            &long,
        ] {
            assert!(text.parse::<EmailAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_has_the_length_limits_of_the_standards() {
        let mailbox = |length: usize| "x".repeat(length);
        // The limits of the whole address, the mailbox and a label.
        let host = format!("{0}.{0}.{1}.com", "y".repeat(63), "z".repeat(57));
        assert_eq!(host.len(), 189);
        assert!(format!("{}@{host}", mailbox(64)).parse::<EmailAddress>().is_ok(), "254 characters");
        assert!(format!("{}@z{host}", mailbox(64)).parse::<EmailAddress>().is_err());
        assert!(format!("{}@example.com", mailbox(65)).parse::<EmailAddress>().is_err());
        assert!(format!("a@{}.com", "y".repeat(64)).parse::<EmailAddress>().is_err());
    }

    #[test]
    fn a_username_has_1_to_64_allowed_characters() {
        let long = "x".repeat(65);
        for text in ["a", "Ada.Lovelace_1-2", &long[1..]] {
            assert_eq!(text.parse::<Username>().map(|name| name.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "a b", "a#b", "a@b", "\u{e4}", &long] {
            assert!(text.parse::<Username>().is_err(), "{text}");
        }
        let key = |text: &str| {
            let mut key = String::new();
            text.parse::<Username>().expect("a name").write_to(&mut key);
            key
        };
        assert_eq!(key("Ada"), "ada");
    }
}
