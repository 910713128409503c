//! The size of an item in bytes.
//!
//! The rules are DynamoDB's:
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>. They only say
//! "approximately" for the size of numbers. That was measured on AWS to the byte, for the embedded engine:
//! <https://docs.rs/dynoxide-rs/3.2.0/src/dynoxide/types.rs.html>.

use sample_items::{Kind, Sample};
use serde_dynamo::{AttributeValue, Item};

/// The overhead of each element of a list or a map.
const ELEMENT: usize = 1;

/// The overhead of a list or a map.
const DOCUMENT: usize = 3;

/// The overhead of each item, and of each index entry, in billed storage. Capacity units do not include it.
pub const STORAGE_OVERHEAD: usize = 100;

/// The size of an item: the names of its attributes, in UTF-8, and their values.
pub fn of_item(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + of_value(value)).sum()
}

/// The size of the sample's item of this kind: 0 for [`Kind::Absent`].
pub fn of_kind(sample: &Sample, kind: Kind) -> usize {
    sample.item(kind).map_or(0, of_item)
}

pub fn of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => of_number(number),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::Bool(_) | AttributeValue::Null(_) => 1,
        AttributeValue::L(list) => DOCUMENT + list.iter().map(|value| ELEMENT + of_value(value)).sum::<usize>(),
        AttributeValue::M(map) => {
            DOCUMENT + map.iter().map(|(name, value)| ELEMENT + name.len() + of_value(value)).sum::<usize>()
        }
        AttributeValue::Ss(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::Ns(numbers) => numbers.iter().map(|number| of_number(number)).sum(),
        AttributeValue::Bs(blobs) => blobs.iter().map(Vec::len).sum(),
    }
}

/// The size of a whole number: one byte, one for each two significant digits, and one for a minus sign. Leading and
/// trailing zeros are not significant. Till stores no fractions.
fn of_number(number: &str) -> usize {
    let digits = number.trim_start_matches(['-', '+']).trim_matches('0');
    let sign = usize::from(number.starts_with('-') && !digits.is_empty());
    1 + digits.len().div_ceil(2) + sign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_sizes_measured_on_aws() {
        for (number, size) in [
            ("0", 1),
            ("1", 2),
            ("12", 2),
            ("123", 3),
            ("12345678912", 7),
            ("1234567890123456789", 11),
            ("0042", 2),
            ("100", 2),
            ("1010", 3),
            ("-42", 3),
            ("-12345", 5),
            ("-0", 1),
        ] {
            assert_eq!(of_value(&AttributeValue::N(number.to_owned())), size, "{number}");
        }
    }

    #[test]
    fn lists_and_maps_have_an_overhead_for_themselves_and_for_each_element() {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        assert_eq!(of_value(&AttributeValue::L(Vec::new())), 3);
        assert_eq!(of_value(&AttributeValue::L(vec![text("abc"), text("\u{e9}")])), 3 + 1 + 3 + 1 + 2);
        let map = [("name".to_owned(), text("abc")), ("gone".to_owned(), AttributeValue::Null(true))];
        assert_eq!(of_value(&AttributeValue::M(map.into())), 3 + (1 + 4 + 3) + (1 + 4 + 1));
    }
}
