//! The ids of DynamoDB Streams.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{Invalid, KeyPart, spread};

/// A shard of a stream: 1 to 128 characters of `[A-Za-z0-9._-]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ShardId(String);

/// The position of a record in its shard: a number of 1 to 40 digits.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html>
///
/// It exceeds all integer types, so it is kept as text. Two are compared as numbers: `99` comes before `100`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SequenceNumber(String);

impl ShardId {
    /// The name under which repairs of counts have their checkpoint. No shard of a stream has it.
    pub(crate) fn of_repairs() -> Self {
        Self("repairs".to_owned())
    }

    /// A number below `count` that depends only on this id: [`spread`].
    pub fn spread(&self, count: u8) -> u8 {
        spread(&self.0, count)
    }
}

impl SequenceNumber {
    /// A number below those of all records.
    pub(crate) fn zero() -> Self {
        Self("0".to_owned())
    }

    /// The number as text, as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The length and the digits without leading zeros. Compared as a pair, they order like the numbers.
    fn magnitude(&self) -> (usize, &str) {
        let digits = self.0.trim_start_matches('0');
        (digits.len(), digits)
    }
}

impl PartialEq for SequenceNumber {
    fn eq(&self, other: &Self) -> bool {
        self.magnitude() == other.magnitude()
    }
}

impl Eq for SequenceNumber {}

impl PartialOrd for SequenceNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SequenceNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        self.magnitude().cmp(&other.magnitude())
    }
}

impl TryFrom<String> for ShardId {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=128).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("a shard id must be 1 to 128 characters of A-Z, a-z, 0-9, ., _ and -"))
        }
    }
}

impl TryFrom<String> for SequenceNumber {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        if (1..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("a sequence number must be 1 to 40 digits"))
        }
    }
}

values!(parsed: ShardId SequenceNumber);
values!(shown: ShardId SequenceNumber);

impl KeyPart for ShardId {
    fn write_to(&self, key: &mut String) {
        key.push_str(&self.0);
    }
}

impl KeyPart for SequenceNumber {
    fn write_to(&self, key: &mut String) {
        key.push_str(&self.0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> SequenceNumber {
        text.parse().expect("a sequence number")
    }

    proptest! {
        #[test]
        fn sequence_numbers_compare_as_numbers(a: u128, b: u128, zeros in 0..2_usize, near in 0..3_u128) {
            for b in [b, a.saturating_add(near), a / 10] {
                let padded = number(&format!("{}{b}", "0".repeat(zeros)));
                prop_assert_eq!(number(&a.to_string()).cmp(&padded), a.cmp(&b));
                prop_assert_eq!(number(&a.to_string()) == padded, a == b);
            }
        }
    }

    #[test]
    fn numbers_of_40_digits_exceed_all_integers_and_still_compare_as_numbers() {
        let (most, next) = ("9".repeat(39), format!("1{}", "0".repeat(39)));
        assert!(number(&most) < number(&next));
        assert!(next.parse::<u128>().is_err());
    }

    #[test]
    fn invalid_sequence_numbers_and_shard_ids_are_refused() {
        for text in ["", "-1", "1.5", "x", &"1".repeat(41)] {
            assert!(text.parse::<SequenceNumber>().is_err(), "{text}");
        }
        for text in ["", "a#b", "a b", &"x".repeat(129)] {
            assert!(text.parse::<ShardId>().is_err(), "{text}");
        }
        assert!("shardId-00000001710249523012-05c0fb2d".parse::<ShardId>().is_ok());
    }

    #[test]
    fn shard_ids_and_sequence_numbers_of_the_greatest_length_are_accepted() {
        let (shard, most) = ("x".repeat(128), "9".repeat(40));
        assert_eq!(shard.parse::<ShardId>().map(|shard| shard.to_string()), Ok(shard));
        assert_eq!(number(&most).as_str(), most);
        assert_eq!(number("007").to_string(), "007");
    }
}
