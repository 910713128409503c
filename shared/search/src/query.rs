//! What a customer searches for.

use key_schema::value::{Category, Currency, Invalid};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::document::folded;

const MOST_WORDS: usize = 20;

/// The words that a customer types. The last one may be the beginning of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Words(Vec<String>);

/// The order of the products found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// The best match first. Without words, all products match equally, and are sorted by product id.
    #[default]
    Relevance,
    /// The lowest price first. Needs a currency.
    PriceAsc,
    /// The highest price first. Needs a currency.
    PriceDesc,
    /// By name, without regard to case and accents.
    Name,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Each of the words must match. Without words, every product matches.
    pub words: Words,
    /// Only products of this category.
    pub category: Option<Category>,
    /// Only products with a price in this currency.
    pub currency: Option<Currency>,
    /// Only products that cost at least this, in minor units.
    pub from: Option<i64>,
    /// Only products that cost less than this, in minor units.
    pub to: Option<i64>,
    /// Only products that are not sold out.
    pub available: bool,
    /// The order of the products.
    pub sort: Sort,
    /// The most products of the page.
    pub limit: u8,
    /// The `next` of the page before.
    pub cursor: Option<String>,
}

impl Words {
    /// The words.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<String> for Words {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let has_letter = |word: &&str| word.chars().any(char::is_alphanumeric);
        let words: Vec<_> = text.split_whitespace().filter(has_letter).map(folded).collect();
        if text.chars().count() <= 200 && (1..=MOST_WORDS).contains(&words.len()) {
            Ok(Self(words))
        } else {
            Err(Invalid(format!("q must be at most 200 characters, with 1 to {MOST_WORDS} words")))
        }
    }
}
