//! The signature of what Stripe sends: `Stripe-Signature: t=1763719200,v1=5257a869...`.
//!
//! <https://docs.stripe.com/webhooks#verify-manually>

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The greatest age of a signature, in seconds. Stripe's own libraries allow as much.
const TOLERANCE: i64 = 300;

/// The reason why a notice is not believed. It does not say more, because its reader may have forged the notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotGenuine {
    #[error("the signature is missing or malformed")]
    Malformed,
    #[error("the signature is not the payment provider's")]
    Forged,
    #[error("the signature is older than five minutes, or from the future")]
    Old,
    #[error("the content is not what the payment provider sends")]
    Unreadable,
}

/// Checks a signature of `body` at the time `now`, in seconds since 1970. During a change of the key, Stripe sends a
/// signature with each key; one of them must be genuine.
pub(crate) fn verify(key: &str, signature: &str, body: &[u8], now: i64) -> Result<(), NotGenuine> {
    let mut time = None;
    let mut signatures = Vec::new();
    for part in signature.split(',') {
        match part.trim().split_once('=') {
            Some(("t", value)) => time = Some(value),
            Some(("v1", value)) => signatures.push(bytes(value).ok_or(NotGenuine::Malformed)?),
            _ => {}
        }
    }
    let time = time.ok_or(NotGenuine::Malformed)?;
    let seconds: i64 = time.parse().map_err(|_| NotGenuine::Malformed)?;
    if signatures.is_empty() {
        return Err(NotGenuine::Malformed);
    }
    let mac = mac(key, time, body);
    if !signatures.iter().any(|signature| mac.clone().verify_slice(signature).is_ok()) {
        return Err(NotGenuine::Forged);
    }
    if now.abs_diff(seconds) <= TOLERANCE.unsigned_abs() { Ok(()) } else { Err(NotGenuine::Old) }
}

/// The header of a genuine notice at the time `now`, in seconds since 1970.
pub fn sign(key: &str, body: &[u8], now: i64) -> String {
    let mut header = format!("t={now},v1=");
    for byte in mac(key, &now.to_string(), body).finalize().into_bytes() {
        // Writing to a string cannot fail.
        _ = write!(header, "{byte:02x}");
    }
    header
}

fn mac(key: &str, time: &str, body: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key");
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac
}

/// The bytes of a text in hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if digits.len().is_multiple_of(2) { digits.chunks(2).map(pair).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"id":"evt_1"}"#;

    #[test]
    fn a_signature_of_the_body_is_genuine_for_five_minutes() {
        let header = sign("whsec_a", BODY, 1_000_000);
        for now in [1_000_000, 1_000_300, 999_700] {
            assert_eq!(verify("whsec_a", &header, BODY, now), Ok(()));
        }
        for now in [1_000_301, 999_699] {
            assert_eq!(verify("whsec_a", &header, BODY, now), Err(NotGenuine::Old));
        }
    }

    #[test]
    fn another_key_body_or_time_is_forged() {
        let header = sign("whsec_a", BODY, 1_000_000);
        assert_eq!(verify("whsec_b", &header, BODY, 1_000_000), Err(NotGenuine::Forged));
        assert_eq!(verify("whsec_a", &header, b"{}", 1_000_000), Err(NotGenuine::Forged));
        let later = header.replace("t=1000000", "t=1000001");
        assert_eq!(verify("whsec_a", &later, BODY, 1_000_001), Err(NotGenuine::Forged));
    }

    #[test]
    fn one_genuine_signature_of_several_is_enough() {
        let (old, new) = (sign("whsec_a", BODY, 9), sign("whsec_b", BODY, 9));
        let both = format!("{old},{}", new.strip_prefix("t=9,").expect("a time"));
        assert_eq!(verify("whsec_a", &both, BODY, 9), Ok(()));
        assert_eq!(verify("whsec_b", &both, BODY, 9), Ok(()));
    }

    #[test]
    fn a_malformed_signature_is_refused() {
        for header in ["", "t=1", "v1=00", "t=x,v1=00", "t=1,v1=0", "t=1,v1=zz", "t=1;v1=00", "t=1,v0=00"] {
            assert_eq!(verify("whsec_a", header, BODY, 1), Err(NotGenuine::Malformed), "{header}");
        }
    }

    #[test]
    fn the_signature_is_that_of_openssl() {
        // printf '12345.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test
        let signed = "t=12345,v1=8c990f992d95eb2978e78609f4caf526f4191a35a20d6ab00c821fc4f95c6338";
        assert_eq!(sign("whsec_test", BODY, 12_345), signed);
    }
}
