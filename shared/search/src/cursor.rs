//! Cursors: a customer's position in what was found.
//!
//! A cursor contains the sort values of the last product of a page, and a checksum over them and the search. As with the
//! cursors of the table's lists, the checksum is not a secret. It detects broken cursors and cursors of other searches.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use key_schema::cursor::InvalidCursor;
use key_schema::value::ProductId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{Query, Sort};

const CHECKSUM: usize = 6;

const LONGEST: usize = 2048;

/// The sort values of a product, with its id as the last one: no two products have the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Position {
    /// Sorted by a price.
    Price(i64, ProductId),
    /// Sorted by relevance.
    Score(f32, ProductId),
    /// Sorted by name.
    Name(String, ProductId),
}

impl Position {
    pub(crate) fn read(values: &Value, sort: Sort) -> Option<Self> {
        let [first, id] = values.as_array()?.as_slice() else { return None };
        let id = id.as_str()?.parse().ok()?;
        match sort {
            Sort::Relevance => Some(Self::Score(f32::deserialize(first).ok().filter(|score| score.is_finite())?, id)),
            Sort::PriceAsc | Sort::PriceDesc => Some(Self::Price(first.as_i64()?, id)),
            Sort::Name => Some(Self::Name(first.as_str()?.to_owned(), id)),
        }
    }
}

/// The cursor of a customer who has seen everything up to this position.
pub(crate) fn seal(query: &Query, position: &Position) -> String {
    // Numbers and texts always have a JSON form.
    let position = serde_json::to_string(position).unwrap_or_default();
    let mut bytes = checksum(query, &position).to_vec();
    bytes.extend_from_slice(position.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The position in a customer's cursor.
///
/// # Errors
/// The cursor is broken, or belongs to another search.
pub(crate) fn open(query: &Query, cursor: &str) -> Result<Position, InvalidCursor> {
    let position = || {
        let bytes = URL_SAFE_NO_PAD.decode(Some(cursor).filter(|cursor| cursor.len() <= LONGEST)?).ok()?;
        let (sum, position) = bytes.split_at_checked(CHECKSUM)?;
        let position = str::from_utf8(position).ok()?;
        let values = serde_json::from_str(position).ok().filter(|_| sum == checksum(query, position))?;
        Position::read(&values, query.sort)
    };
    position().ok_or(InvalidCursor)
}

fn checksum(query: &Query, position: &str) -> [u8; CHECKSUM] {
    let Query { words, category, currency, from, to, available, sort, limit: _, cursor: _ } = query;
    let search = format!("{words:?} {category:?} {currency:?} {from:?} {to:?} {available} {sort:?}\n{position}");
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&Sha256::digest(search)[..CHECKSUM]);
    sum
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    fn any_position() -> impl Strategy<Value = (Sort, Position)> {
        let id = "[A-Za-z0-9_-]{1,64}".prop_map(|id| id.parse::<ProductId>().expect("an id"));
        (any::<f32>().prop_filter("finite", |score| score.is_finite()), any::<i64>(), "\\PC{0,200}", id).prop_flat_map(
            |(score, price, name, id)| {
                prop_oneof![
                    Just((Sort::Relevance, Position::Score(score, id.clone()))),
                    Just((Sort::PriceAsc, Position::Price(price, id.clone()))),
                    Just((Sort::PriceDesc, Position::Price(price, id.clone()))),
                    Just((Sort::Name, Position::Name(name, id))),
                ]
            },
        )
    }

    fn query(text: &str, sort: Sort) -> Query {
        Query { words: text.to_owned().try_into().expect("words"), sort, ..Query::default() }
    }

    proptest! {
        #[test]
        fn an_opened_cursor_holds_its_position_and_fits_no_other_search((sort, position) in any_position()) {
            let cup = query("cup", sort);
            let cursor = seal(&cup, &position);
            prop_assert_eq!(open(&cup, &cursor), Ok(position));
            prop_assert!(open(&query("cups", sort), &cursor).is_err());
            let dearer = Query { from: Some(1), ..cup.clone() };
            prop_assert!(open(&dearer, &cursor).is_err());
            let of_a_category = Query { category: Some("a".parse().expect("one")), ..cup.clone() };
            prop_assert!(open(&of_a_category, &cursor).is_err());
            for other in [Sort::Relevance, Sort::PriceAsc, Sort::PriceDesc, Sort::Name] {
                prop_assert_eq!(open(&query("cup", other), &cursor).is_ok(), other == sort);
            }
        }

        #[test]
        fn a_cursor_with_another_character_is_refused(
            (sort, position) in any_position(), at in any::<prop::sample::Index>(), other in "[A-Za-z0-9_-]",
        ) {
            let cup = query("cup", sort);
            let mut cursor = seal(&cup, &position);
            let at = at.index(cursor.len());
            prop_assume!(cursor[at..=at] != other);
            cursor.replace_range(at..=at, &other);
            prop_assert!(open(&cup, &cursor).is_err());
        }

        #[test]
        fn any_text_is_a_position_or_an_error(cursor in any::<String>()) {
            prop_assert!(open(&query("cup", Sort::Name), &cursor).is_err());
        }
    }
}
