//! Cursors: a client's position in a list.
//!
//! A cursor contains only the sort key of the last item read, and a checksum. The partition key is rebuilt from the
//! request, so a cursor cannot be used to read another customer's data.
//!
//! The checksum covers pattern, partition and position. It detects broken cursors and cursors of other lists. It is not
//! a secret: a client with a forged cursor reads only what it may read anyway. A position that DynamoDB would refuse is
//! refused here, so that a forged cursor is the client's error and not the server's.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::Query;

/// The length of the checksum in bytes.
const CHECKSUM: usize = 6;

/// The longest sort key in bytes. A position must be shorter: the key at which the next page starts is one byte longer
/// than the position, and another layout may spell it longer.
const LONGEST_SORT_KEY: usize = 1024 - 16;

/// The error of a cursor that is broken or belongs to another list. The message is for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cursor must be the `next` of an earlier page of this list and range")]
pub struct InvalidCursor;

/// The cursor of a client that has read this list up to the sort key `position`.
pub fn seal<Item>(list: &Query<Item>, position: &str) -> String {
    let mut bytes = checksum(list, position).to_vec();
    bytes.extend_from_slice(position.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The position in a client's cursor.
///
/// # Errors
/// The cursor is broken, belongs to another list, or lies outside the requested range.
pub fn open<Item>(list: &Query<Item>, cursor: &str) -> Result<String, InvalidCursor> {
    let position = || {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (sum, position) = bytes.split_at_checked(CHECKSUM)?;
        let position = str::from_utf8(position).ok()?;
        let is_key = position.len() < LONGEST_SORT_KEY && position.bytes().all(|byte| byte.is_ascii_graphic());
        let is_valid = sum == checksum(list, position)
            && is_key
            && list.range.contains(position)
            && !list.rest(Some(position)).is_empty();
        is_valid.then(|| position.to_owned())
    };
    position().ok_or(InvalidCursor)
}

fn checksum<Item>(list: &Query<Item>, position: &str) -> [u8; CHECKSUM] {
    let mut hash = Sha256::new();
    hash.update([list.declared.number]);
    hash.update(&list.partition);
    // A separator: no partition key contains a line feed.
    hash.update("\n");
    hash.update(position);
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&hash.finalize()[..CHECKSUM]);
    sum
}
