//! The numbers of invoices.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{Invalid, InvoiceSeries};

/// The number of an invoice: its series and its place in it, such as `2026-17`. A series counts from 1 without gaps.
///
/// Its text is the series, a hyphen, and digits without leading zeros. The series may contain hyphens, so the last one
/// separates the two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InvoiceNumber {
    pub series: InvoiceSeries,
    pub place: u64,
}

impl FromStr for InvoiceNumber {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid =
            || Invalid::new("must be an invoice number: a series, a hyphen, and a number from 1, such as 2026-17");
        let (series, place) = text.rsplit_once('-').ok_or_else(invalid)?;
        let number = Self { series: series.parse()?, place: place.parse().map_err(|_| invalid())? };
        // One number has one spelling.
        if number.place > 0 && number.to_string() == text { Ok(number) } else { Err(invalid()) }
    }
}

values!(spelled: InvoiceNumber);

impl fmt::Display for InvoiceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.series, self.place)
    }
}

impl PartialSchema for InvoiceNumber {
    fn schema() -> RefOr<Schema> {
        let schema =
            ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_-]{1,64}-[1-9][0-9]{0,19}$"));
        schema
            .description(Some(
                "The number of an invoice: its series, a hyphen, and its place in it, such as `2026-17`.",
            ))
            .into()
    }
}

impl ToSchema for InvoiceNumber {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_read_from_its_text(series in "[A-Za-z0-9_-]{1,64}", place in 1_u64..) {
            let number = InvoiceNumber { series: series.parse()?, place };
            prop_assert_eq!(number.to_string().parse(), Ok(number));
        }
    }

    #[test]
    fn a_number_has_one_spelling() {
        for text in ["2026", "2026-", "-1", "2026-0", "2026-01", "2026-+1", "2026-x", "20 26-1"] {
            assert!(text.parse::<InvoiceNumber>().is_err(), "{text}");
        }
    }
}
