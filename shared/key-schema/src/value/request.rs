//! The idempotency key and the hash of a request.

use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Invalid;

/// The value of an `Idempotency-Key` header: 1 to 255 printable ASCII characters, chosen by the client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

values!(parsed: IdempotencyKey);

impl TryFrom<String> for IdempotencyKey {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        if (1..=255).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("Idempotency-Key must be 1 to 255 printable ASCII characters"))
        }
    }
}

/// The hash of a request's canonical form: SHA-256 in base64url, 43 characters.
///
/// It distinguishes a repeated request from a different one with the same idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestHash(String);

impl FromStr for RequestHash {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match URL_SAFE_NO_PAD.decode(text) {
            Ok(digest) if digest.len() == Sha256::output_size() => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new("a request's hash must be a SHA-256 in base64url")),
        }
    }
}

impl RequestHash {
    /// The hash of a request's canonical form.
    pub fn of(canonical: &[u8]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(Sha256::digest(canonical)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_has_1_to_255_printable_characters() {
        let long = "x".repeat(256);
        for text in ["k", " ~", &long[1..]] {
            assert_eq!(text.parse::<IdempotencyKey>().map(|key| key.as_str().to_owned()), Ok(text.to_owned()));
        }
        for text in ["", "a\u{7f}", "a\n", "\u{e4}", &long] {
            assert!(text.parse::<IdempotencyKey>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_request_hash_is_a_sha_256() {
        let hash = RequestHash::of(b"abc");
        assert_eq!(hash.as_str(), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
        assert_eq!(hash.as_str().parse(), Ok(hash.clone()));
        for text in ["", "xyzzy", &hash.as_str()[..40], &format!("{}AAAA", hash.as_str())] {
            assert!(text.parse::<RequestHash>().is_err(), "{text}");
        }
    }
}
