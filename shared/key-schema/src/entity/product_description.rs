//! Long descriptions of products.

use serde::{Deserialize, Serialize};

use crate::value::{ProductId, TextHash};

use super::Product;

/// The lengths of the beginning of a longer description, with the [`ELLIPSIS`]. Beginning and hash together are no longer
/// than a description that is in the item as a whole.
const LONGEST_BEGINNING: usize = 940;
const SHORTEST_BEGINNING: usize = 830;

/// The end of each beginning.
const ELLIPSIS: &str = "\u{2026}";

/// The whole description of a product whose own item has only its beginning. It is written and deleted in the
/// transactions that change the product's description, so that nothing else of the product costs more for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductDescription {
    pub product_id: ProductId,
    pub text: String,
}

impl Product {
    /// The longest description that is in its product's item as a whole, in bytes of UTF-8.
    pub const LONGEST_INSIDE: usize = 1000;

    /// Gives the product this description. Returns the item with the whole text, unless the text is in the product's
    /// own item.
    pub fn describe(&mut self, text: String) -> Option<ProductDescription> {
        if text.len() <= Self::LONGEST_INSIDE {
            (self.description, self.whole_description) = (text, None);
            return None;
        }
        (self.description, self.whole_description) = (beginning(&text), Some(TextHash::of(&text)));
        Some(ProductDescription { product_id: self.product_id.clone(), text })
    }

    /// Whether `description` is only the beginning.
    pub fn description_continues(&self) -> bool {
        self.whole_description.is_some()
    }

    /// The whole description, given the item with a long one, if there is one. `None` if that item has another
    /// description of the product: the two items were read at different moments.
    pub fn whole_description(&self, long: Option<ProductDescription>) -> Option<String> {
        let Some(hash) = &self.whole_description else { return Some(self.description.clone()) };
        long.map(|long| long.text).filter(|text| *hash == TextHash::of(text))
    }
}

/// The beginning of a text that is too long for its product's item. It ends between two words, if there is a space near
/// its end.
fn beginning(text: &str) -> String {
    let most = text.floor_char_boundary(LONGEST_BEGINNING - ELLIPSIS.len());
    let nearest = text[..most].rfind(char::is_whitespace).filter(|space| space + ELLIPSIS.len() >= SHORTEST_BEGINNING);
    format!("{}{ELLIPSIS}", &text[..nearest.unwrap_or(most)])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::value::{Currency, Money};
    use proptest::prelude::*;

    fn product() -> Product {
        let price = Money::nearest(1999, Currency::try_from("EUR".to_owned()).expect("a currency"));
        let category = "kitchen".parse().expect("a category");
        Product::new("cup".parse().expect("an id"), "Cup".to_owned(), category, price)
    }

    fn described(text: &str) -> (Product, Option<ProductDescription>) {
        let mut product = product();
        let long = product.describe(text.to_owned());
        (product, long)
    }

    /// The bytes of the attributes that depend on the description. A hash has 43 characters.
    fn bytes(product: &Product) -> usize {
        product.description.len() + product.whole_description.as_ref().map_or(0, |_| "wholeDescription".len() + 43)
    }

    /// Texts of every length around the limits, of characters of one to four bytes.
    fn any_text() -> impl Strategy<Value = String> {
        let word = prop_oneof!["[a-z]{1,12}", "[äöü\u{2026}]{1,6}", "[\u{1F600}-\u{1F64F}]{1,20}"];
        let words = proptest::collection::vec((word, prop_oneof![Just(" "), Just(""), Just("\n")]), 0..80);
        words.prop_map(|words| words.into_iter().map(|(word, end)| word + end).collect())
    }

    proptest! {
        #[test]
        fn every_description_is_whole_again(text in any_text(), other in any_text()) {
            let (product, long) = described(&text);
            prop_assert_eq!(product.whole_description(long.clone()), Some(text.clone()));
            prop_assert_eq!(long.is_some(), product.description_continues());
            // Nothing else is ever taken for it.
            let (_, another) = described(&other);
            let expected = match &long {
                None => Some(text),
                Some(_) => Some(text).filter(|text| *text == other),
            };
            prop_assert_eq!(product.whole_description(another), expected);
        }

        #[test]
        fn a_longer_description_makes_no_item_larger_than_the_longest_inside_does(text in any_text()) {
            let (longest, none) = described(&"x".repeat(Product::LONGEST_INSIDE));
            prop_assert_eq!(none, None);
            let (product, _) = described(&text);
            prop_assert!(bytes(&product) <= bytes(&longest), "{} {}", bytes(&product), bytes(&longest));
        }
    }

    #[test]
    fn the_limit_is_in_bytes() {
        for (text, is_long) in [
            ("x".repeat(1000), false),
            ("x".repeat(1001), true),
            ("\u{1F600}".repeat(250), false),
            ("\u{1F600}".repeat(251), true),
        ] {
            assert_eq!(described(&text).1.is_some(), is_long, "{}", text.len());
        }
    }

    #[test]
    fn a_beginning_ends_between_two_words_or_else_between_two_characters() {
        let (product, _) = described(&"stoneware ".repeat(200));
        assert_eq!(product.description, format!("{}stoneware\u{2026}", "stoneware ".repeat(92)));
        let (product, _) = described(&"\u{1F600}".repeat(5000));
        assert_eq!(product.description, format!("{}\u{2026}", "\u{1F600}".repeat(234)));
    }
}
