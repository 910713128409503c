//! Attributes of products.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{Invalid, Line};

/// The most attributes of a product. Each is part of its item, which every list reads.
const MOST: usize = 20;

/// What tells the variants of a product apart, such as its size and its colour: at most 20 texts, each by its name. Names
/// and texts are 1 to 100 visible characters on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Line>")]
pub struct Attributes(BTreeMap<String, String>);

impl TryFrom<BTreeMap<String, Line>> for Attributes {
    type Error = Invalid;

    fn try_from(given: BTreeMap<String, Line>) -> Result<Self, Invalid> {
        if given.len() > MOST {
            return Err(Invalid::new(format!("must be at most {MOST} attributes")));
        }
        let mut attributes = BTreeMap::new();
        for (name, text) in given {
            let name = String::from(Line::try_from(name)?);
            if attributes.insert(name.clone(), text.into()).is_some() {
                return Err(Invalid::new(format!("{name} is named twice")));
            }
        }
        Ok(Self(attributes))
    }
}

impl From<Attributes> for BTreeMap<String, String> {
    fn from(attributes: Attributes) -> Self {
        attributes.0
    }
}

impl PartialSchema for Attributes {
    fn schema() -> RefOr<Schema> {
        let names = match Line::schema() {
            RefOr::T(names) => Some(names),
            RefOr::Ref(_) => None,
        };
        let description =
            "What tells the variants of a product apart, such as its size and its colour: texts by their names.";
        let attributes = ObjectBuilder::new().schema_type(Type::Object).description(Some(description));
        attributes.property_names(names).additional_properties(Some(Line::schema())).max_properties(Some(MOST)).into()
    }
}

impl ToSchema for Attributes {}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<BTreeMap<String, String>, String> {
        let attributes: Result<Attributes, _> = serde_json::from_value(value);
        attributes.map(Into::into).map_err(|error| error.to_string())
    }

    #[test]
    fn attributes_are_texts_with_names() {
        let attributes = read(json!({ " size ": "M", "colour": " dark red" })).expect("attributes");
        let expected = [("colour", "dark red"), ("size", "M")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(attributes, BTreeMap::from(expected));
        assert_eq!(read(json!({})), Ok(BTreeMap::new()));
        let many = |count: usize| (0..count).map(|at| (format!("a{at}"), json!("x"))).collect::<Value>();
        assert!(read(many(MOST)).is_ok() && read(many(MOST + 1)).is_err());
    }

    #[test]
    fn a_name_is_given_once_and_neither_name_nor_text_is_invisible() {
        for wrong in [json!({ "a": "1", " a": "2" }), json!({ "": "1" }), json!({ "a": "" }), json!({ "a": "1\n2" })] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(read(json!({ "x".repeat(101): "1" })).is_err());
        assert!(read(json!({ "a": 1 })).is_err());
    }
}
