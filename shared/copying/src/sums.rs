//! Checksums that do not depend on the order of items.

use key_schema::entity::Checksum;
use key_schema::layout::COPIED;
use sha2::{Digest as _, Sha256};
use table::{AttributeValue, Item};

/// The digest of an item with canonical keys, without the mark of a copy.
pub fn digest(item: &Item) -> [u8; 32] {
    let mut sha = Sha256::new();
    hash_map(&mut sha, item.iter().filter(|(name, _)| *name != COPIED));
    sha.finalize().into()
}

/// The checksum of one item. The checksum of several is the sum.
pub fn sum(item: &Item) -> Checksum {
    let digest = digest(item);
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    Checksum { items: 1, sum: u128::from_be_bytes(half) }
}

/// Each value is hashed with its type and its length, so that no two values have the same bytes. The names of a map and
/// the elements of a set come in their order.
fn hash(sha: &mut Sha256, value: &AttributeValue) {
    match value {
        AttributeValue::S(text) => hash_bytes(sha, b'S', text.as_bytes()),
        AttributeValue::N(number) => hash_bytes(sha, b'N', number.as_bytes()),
        AttributeValue::B(bytes) => hash_bytes(sha, b'B', bytes.as_ref()),
        AttributeValue::Bool(value) => hash_bytes(sha, b'T', &[u8::from(*value)]),
        AttributeValue::Null(_) => hash_bytes(sha, b'0', &[]),
        AttributeValue::Ss(texts) => hash_set(sha, b's', texts.iter().map(String::as_bytes).collect()),
        AttributeValue::Ns(numbers) => hash_set(sha, b'n', numbers.iter().map(String::as_bytes).collect()),
        AttributeValue::Bs(all) => hash_set(sha, b'b', all.iter().map(AsRef::as_ref).collect()),
        AttributeValue::L(list) => {
            hash_length(sha, b'L', list.len());
            for value in list {
                hash(sha, value);
            }
        }
        AttributeValue::M(map) => hash_map(sha, map.iter()),
        // A type that DynamoDB has not got yet. Two such values count as equal.
        _ => hash_bytes(sha, b'?', &[]),
    }
}

fn hash_map<'a>(sha: &mut Sha256, entries: impl Iterator<Item = (&'a String, &'a AttributeValue)>) {
    let mut entries: Vec<_> = entries.collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    hash_length(sha, b'M', entries.len());
    for (name, value) in entries {
        hash_bytes(sha, b'S', name.as_bytes());
        hash(sha, value);
    }
}

fn hash_set(sha: &mut Sha256, kind: u8, mut elements: Vec<&[u8]>) {
    elements.sort_unstable();
    hash_length(sha, kind, elements.len());
    for element in elements {
        hash_bytes(sha, kind, element);
    }
}

fn hash_bytes(sha: &mut Sha256, kind: u8, bytes: &[u8]) {
    hash_length(sha, kind, bytes.len());
    sha.update(bytes);
}

fn hash_length(sha: &mut Sha256, kind: u8, length: usize) {
    sha.update([kind]);
    sha.update((length as u64).to_be_bytes());
}
