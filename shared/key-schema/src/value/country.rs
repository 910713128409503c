//! Countries, as ISO 3166 codes.

use std::str::FromStr as _;

use country_code_enum::CountryCode;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Invalid;

/// A country: a code of ISO 3166-1 alpha-2 in upper case, such as `DE`. Kosovo has `XK`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Country(String);

impl Country {
    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Deserializes a stored country without validation: a code that ISO withdraws stays readable.
    ///
    /// # Errors
    /// The value is not a string.
    pub(crate) fn stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }

    /// The same for a list.
    ///
    /// # Errors
    /// The value is not a list of strings.
    pub(crate) fn all_stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Self>, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.into_iter().map(Self).collect())
    }
}

impl TryFrom<String> for Country {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        // The library accepts lower case as well. One spelling is enough.
        match CountryCode::from_str(&text) {
            Ok(code) if code.as_ref() == text => Ok(Self(text)),
            _ => Err(Invalid::new("country must be a code of ISO 3166-1 with two upper-case letters, such as DE")),
        }
    }
}

values!(parsed: Country);
values!(shown: Country);

impl PartialSchema for Country {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new().schema_type(Type::String).description(Some("A country: ISO 3166-1 alpha-2."));
        schema.enum_values(Some(CountryCode::iter().map(|code| code.as_ref().to_owned()))).into()
    }
}

impl ToSchema for Country {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_upper_case_codes_of_countries_are_accepted() {
        for text in ["DE", "GB", "XK"] {
            assert_eq!(text.parse::<Country>().map(|country| country.0), Ok(text.to_owned()));
        }
        for text in ["", "de", "De", "DEU", "AA", "UK", "ZZ", "D", "D\u{c9}"] {
            assert!(text.parse::<Country>().is_err(), "{text:?}");
        }
    }
}
