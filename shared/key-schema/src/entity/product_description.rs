//! Long descriptions of products.

use serde::{Deserialize, Serialize};

use crate::value::{ProductId, TextHash};

use super::Product;

/// The lengths of the beginning of a longer description, with the [`ELLIPSIS`]. Beginning and hash together are no longer
/// than a description that is in the item as a whole.
const LONGEST_BEGINNING: usize = 940;
const SHORTEST_BEGINNING: usize = 830;

/// The end of each beginning. It is a part of the attribute, so it survives a release that does not know hashes.
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
        // A text that looks like a beginning is treated like a long one, so that no whole text looks like a beginning.
        if text.len() <= Self::LONGEST_INSIDE && !is_a_beginning(&text) {
            (self.description, self.whole_description) = (text, None);
            return None;
        }
        (self.description, self.whole_description) = (beginning(&text), Some(TextHash::of(&text)));
        Some(ProductDescription { product_id: self.product_id.clone(), text })
    }

    /// Shortens a long description that an earlier release wrote into the product's item. Returns the item with the
    /// whole text, unless there was nothing to do.
    pub fn shorten(&mut self) -> Option<ProductDescription> {
        if self.description.len() <= Self::LONGEST_INSIDE {
            return None;
        }
        let text = std::mem::take(&mut self.description);
        self.describe(text)
    }

    /// Whether `description` is only the beginning.
    pub fn description_continues(&self) -> bool {
        self.whole_description.is_some() || is_a_beginning(&self.description)
    }

    /// The whole description, given the item with a long one, if there is one. `None` if that item has another
    /// description of the product: the two items were read at different moments, or an earlier release has written the
    /// product since.
    ///
    /// An earlier release writes products without a hash. If it wrote the beginning as it found it, it did not change
    /// the description.
    pub fn whole_description(&self, long: Option<ProductDescription>) -> Option<String> {
        if !self.description_continues() {
            return Some(self.description.clone());
        }
        let text = long?.text;
        let fits = match &self.whole_description {
            Some(hash) => *hash == TextHash::of(&text),
            None => self.description == beginning(&text),
        };
        fits.then_some(text)
    }

    /// The whole description, given the item with a long one as it was at the same moment. `None` if that item is missing,
    /// which no request causes.
    pub fn whole_description_in_snapshot(&self, long: Option<ProductDescription>) -> Option<String> {
        // An earlier release may have written a text that only looks like a beginning.
        let own = || self.whole_description.is_none().then(|| self.description.clone());
        self.whole_description(long).or_else(own)
    }
}

/// The beginning of a text that is too long for its product's item. It ends between two words, if there is a space near
/// its end.
fn beginning(text: &str) -> String {
    let most = text.floor_char_boundary(LONGEST_BEGINNING - ELLIPSIS.len());
    let nearest = text[..most].rfind(char::is_whitespace).filter(|space| space + ELLIPSIS.len() >= SHORTEST_BEGINNING);
    let end = if most < text.len() { nearest.unwrap_or(most) } else { most };
    format!("{}{ELLIPSIS}", &text[..end])
}

/// Whether a text may be the beginning of a longer one. Every beginning is, and hardly any other text.
fn is_a_beginning(text: &str) -> bool {
    (SHORTEST_BEGINNING..=LONGEST_BEGINNING).contains(&text.len()) && text.ends_with(ELLIPSIS)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::value::{Currency, Money};
    use proptest::prelude::*;

    fn product() -> Product {
        Product {
            product_id: "cup".parse().expect("an id"),
            name: "Cup".to_owned(),
            description: String::new(),
            whole_description: None,
            category: "kitchen".parse().expect("a category"),
            price: Money::nearest(1999, Currency::try_from("EUR".to_owned()).expect("a currency")),
            images: Vec::new(),
            initial_stock: 0,
            version: 1,
            weight_grams: None,
            attributes: std::collections::BTreeMap::new(),
            variant_of: None,
            listed: true,
            counted_in: None,
        }
    }

    fn described(text: &str) -> (Product, Option<ProductDescription>) {
        let mut product = product();
        let long = product.describe(text.to_owned());
        (product, long)
    }

    /// A product as a release writes it that does not know the hash.
    fn without_hash(product: &Product) -> Product {
        Product { whole_description: None, ..product.clone() }
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
            // An earlier release that changes the price leaves the description as it is.
            prop_assert_eq!(without_hash(&product).whole_description(long.clone()), Some(text.clone()));
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

        #[test]
        fn a_long_description_of_an_earlier_release_is_shortened_once(text in any_text()) {
            let mut old = Product { description: text.clone(), ..product() };
            let long = old.shorten();
            if text.len() > Product::LONGEST_INSIDE {
                prop_assert_eq!((&old, &long), (&described(&text).0, &described(&text).1));
            } else {
                prop_assert_eq!((old.description.as_str(), &long), (text.as_str(), &None));
            }
            prop_assert_eq!(old.clone().shorten(), None);
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

    #[test]
    fn a_whole_text_never_looks_like_a_beginning() {
        let (long, _) = described(&"stoneware ".repeat(200));
        let (same, item) = described(&long.description);
        assert!(item.is_some() && same.description_continues());
        let left_behind = described(&"stoneware ".repeat(200)).1;
        assert_eq!(same.whole_description(left_behind), None);
        assert_eq!(same.whole_description(item), Some(long.description));
        let (short, item) = described("And so on\u{2026}");
        assert!(item.is_none() && !short.description_continues());
    }
}
