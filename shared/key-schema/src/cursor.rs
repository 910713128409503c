//! Cursors: how far a client has read in a list.
//!
//! A cursor holds the sort key of the last item read and nothing else. The partition is rebuilt from the request, so no
//! cursor can be used to read another's data. A checksum over pattern, partition and position tells a cursor of this list
//! from a broken one and from one of another list. It is no secret and protects nothing: whoever forges one learns what he
//! could have asked for anyway.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::layout::AccessPattern;
use crate::value::Invalid;

const CHECKSUM: usize = 6;

/// The cursor for a client that has read this pattern up to `position`, a sort key.
pub fn seal<P: AccessPattern>(pattern: &P, position: &str) -> String {
    let mut bytes = checksum(pattern, position).to_vec();
    bytes.extend_from_slice(position.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The position that a client's cursor holds.
///
/// # Errors
/// The cursor is broken, belongs to another list, or lies outside the range that is asked for.
pub fn open<P: AccessPattern>(pattern: &P, cursor: &str) -> Result<String, Invalid> {
    let position = || {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (sum, position) = bytes.split_at_checked(CHECKSUM)?;
        let position = str::from_utf8(position).ok()?;
        let ours = sum == checksum(pattern, position) && pattern.range().contains(position);
        ours.then(|| position.to_owned())
    };
    position().ok_or_else(|| Invalid::new("cursor must be the `next` of an earlier page of this list and range"))
}

fn checksum<P: AccessPattern>(pattern: &P, position: &str) -> [u8; CHECKSUM] {
    let mut hash = Sha256::new();
    hash.update([P::DECLARED.number]);
    hash.update(pattern.partition());
    // A partition key holds no line feed.
    hash.update("\n");
    hash.update(position);
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&hash.finalize()[..CHECKSUM]);
    sum
}
