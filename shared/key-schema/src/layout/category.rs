//! The categories of the catalogue, each with its number of products. They share one partition, because lists begin with
//! all of them and a category changes only when a product is added or moved.

use crate::cursor::InvalidCursor;
use crate::entity::CategoryCount;
use crate::value::{Category, Invalid, ProductId};

use super::product::COLLECTION;
use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const CATEGORY: Template<Category> = Template::new("cat#{category}");
const COUNT: Place<(), Category> = Place::table(Template::new("categories"), CATEGORY);

/// The categories, sorted by name, with those that have lost all of their products.
pub const CATEGORIES: Pattern<(), CategoryCount> =
    COUNT.list(25, "the categories, with their numbers of products").eventual();
/// All products, category by category. This pattern finds the categories, and
/// [`PRODUCTS_OF_CATEGORY`](super::PRODUCTS_OF_CATEGORY) the products of each.
pub const PRODUCTS_OF_SHOP: Pattern<(), CategoryCount> =
    COUNT.list(26, "the categories of which to list the products, each by pattern 14").eventual();

impl Stored for CategoryCount {
    const PLACES: &'static [PlaceText] = &[COUNT.text()];

    fn key(&self) -> Key {
        COUNT.key((), &self.category)
    }
}

/// A position in the list of all products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InCategory {
    pub category: Category,
    /// The last product that was read. `None` if all products of the category were read.
    pub product: Option<ProductId>,
}

impl InCategory {
    /// The position, as a cursor has it.
    pub fn position(&self) -> String {
        let category = self.of_categories();
        match &self.product {
            Some(product) => format!("{category}#{}", Self::of_products(product)),
            None => category,
        }
    }

    /// Reads a position.
    ///
    /// # Errors
    /// It is not a position of this list.
    pub fn read(position: &str) -> Result<Self, InvalidCursor> {
        // No part of a key contains a `#`.
        let category = position.strip_prefix(CATEGORY.literal()).unwrap_or_default();
        let (category, product) = match category.split_once('#') {
            Some((category, product)) => {
                (category, Some(product.strip_prefix(COLLECTION.literal()).unwrap_or_default()))
            }
            None => (category, None),
        };
        let read = category
            .parse()
            .and_then(|category| Ok::<_, Invalid>(Self { category, product: product.map(str::parse).transpose()? }));
        read.map_err(|_| InvalidCursor)
    }

    /// The position of the category in [`PRODUCTS_OF_SHOP`].
    pub fn of_categories(&self) -> String {
        CATEGORY.fill(&self.category)
    }

    /// The position of the product in [`PRODUCTS_OF_CATEGORY`](super::PRODUCTS_OF_CATEGORY).
    pub fn of_products(product: &ProductId) -> String {
        COLLECTION.fill(product)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_position_is_read_as_it_was_written(
            category in "[A-Za-z0-9_-]{1,64}", product in proptest::option::of("[A-Za-z0-9_-]{1,64}"),
        ) {
            let category = category.parse().expect("a category");
            let position = InCategory { category, product: product.map(|id| id.parse().expect("an id")) };
            prop_assert_eq!(InCategory::read(&position.position()), Ok(position.clone()));
            prop_assert!(PRODUCTS_OF_SHOP.ask(()).range.contains(&position.position()));
        }

        #[test]
        fn any_text_is_a_position_or_an_error(text in any::<String>()) {
            if let Ok(position) = InCategory::read(&text) {
                prop_assert_eq!(position.position(), text);
            }
        }
    }
}
