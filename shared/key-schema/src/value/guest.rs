//! The secrets of guests.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::{CustomerId, Invalid};

/// The first characters of a guest's id. No customer with a token has such an id.
pub(super) const PREFIX: &str = "guest-";

/// The secret of a guest: 32 random bytes in base64url, 43 characters. The guest's client draws it.
///
/// The guest's id is the hash of the secret. So the id proves nothing, and the secret proves the id without a read. The
/// secret is never stored: the type cannot be serialized, and `Debug` hides its content.
#[derive(Clone)]
pub struct GuestSecret([u8; 32]);

impl GuestSecret {
    /// The id of the guest with this secret: `guest-` and the secret's SHA-256 in base64url, 49 characters.
    ///
    /// A plain hash is enough: nobody can try all secrets of 256 random bits. Ids are public, so comparing them need not
    /// take constant time: what the time tells about a hash tells nothing about the secret.
    pub fn guest_id(&self) -> CustomerId {
        CustomerId::of_guest(&URL_SAFE_NO_PAD.encode(Sha256::digest(self.0)))
    }
}

impl FromStr for GuestSecret {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        // The message does not repeat the secret.
        bytes.map(Self).ok_or(Invalid::new("Guest-Secret must be 43 characters of base64url: 256 random bits"))
    }
}

impl fmt::Debug for GuestSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GuestSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "c2VjcmV0LW9mLWEtZ3Vlc3Qtb2YtdGhlLXNob3AuLi4";

    #[test]
    fn a_guests_id_is_the_hash_of_the_secret() {
        let secret: GuestSecret = SECRET.parse().expect("43 characters");
        let id = secret.guest_id();
        assert!(id.is_guest());
        assert_eq!(id.as_str().len(), 49);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert!(!id.as_str().contains(SECRET));
        assert_eq!(format!("{secret:?}"), "GuestSecret(..)");
        assert!(!"ada".parse::<CustomerId>().expect("an id").is_guest());
        assert!(!"guests".parse::<CustomerId>().expect("an id").is_guest());
    }

    #[test]
    fn a_secret_of_another_form_is_refused_without_repeating_it() {
        // Too short, too long, with padding, of another alphabet, and with bits that no byte has.
        for wrong in [
            "",
            "secret",
            &format!("{SECRET}A"),
            &format!("{SECRET}="),
            &SECRET.replace('c', "+"),
            &format!("{}5", &SECRET[..42]),
        ] {
            let invalid = wrong.parse::<GuestSecret>().expect_err(wrong);
            assert!(wrong.is_empty() || !invalid.to_string().contains(wrong), "{invalid}");
        }
    }
}
