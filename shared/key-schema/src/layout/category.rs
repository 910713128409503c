//! The categories of the catalogue, each with its number of products. They share one partition, because lists begin with
//! all of them and a category changes only when a product is added or moved.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 25 [`Categories`] | table | `categories` | `cat#{category}` |
//! | 26 [`ProductsOfShop`] | table | `categories` | `cat#{category}` |

use crate::cursor;
use crate::entity::{CategoryCount, Entity as _};
use crate::value::{Category, Invalid, ProductId};

use super::product::COLLECTION;
use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

const COUNT: Place<(), (Category,)> = Place::table(Template::new("categories"), Template::new("cat#{category}"));

impl Stored for CategoryCount {
    const PLACES: &'static [PlaceText] = &[COUNT.text()];

    fn key(&self) -> Key {
        COUNT.key((), (&self.category,))
    }
}

/// The categories, sorted by name, with those that have lost all of their products.
pub struct Categories;

impl AccessPattern for Categories {
    type Item = CategoryCount;

    const DECLARED: Declaration = Declaration {
        number: 25,
        question: "the categories, with their numbers of products",
        place: COUNT.text(),
        entities: &[CategoryCount::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        COUNT.partition.fill(())
    }

    fn range(&self) -> SortRange {
        COUNT.all()
    }
}

/// All products, category by category. This pattern finds the categories, and
/// [`ProductsOfCategory`](super::ProductsOfCategory) the products of each.
pub struct ProductsOfShop;

impl AccessPattern for ProductsOfShop {
    type Item = CategoryCount;

    const DECLARED: Declaration = Declaration {
        number: 26,
        question: "the categories of which to list the products, each by pattern 14",
        ..Categories::DECLARED
    };

    fn partition(&self) -> String {
        Categories.partition()
    }

    fn range(&self) -> SortRange {
        Categories.range()
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
    pub fn read(position: &str) -> Result<Self, Invalid> {
        // No part of a key contains a `#`.
        let category = position.strip_prefix(&COUNT.sort.prefix(())).unwrap_or_default();
        let (category, product) = match category.split_once('#') {
            Some((category, product)) => {
                (category, Some(product.strip_prefix(&COLLECTION.prefix(())).unwrap_or_default()))
            }
            None => (category, None),
        };
        let read =
            category.parse().and_then(|category| Ok(Self { category, product: product.map(str::parse).transpose()? }));
        read.map_err(|_| cursor::invalid())
    }

    /// The position of the category in [`ProductsOfShop`].
    pub fn of_categories(&self) -> String {
        COUNT.sort.fill((&self.category,))
    }

    /// The position of the product in [`ProductsOfCategory`](super::ProductsOfCategory).
    pub fn of_products(product: &ProductId) -> String {
        COLLECTION.fill((product,))
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
            prop_assert!(ProductsOfShop.range().contains(&position.position()));
        }

        #[test]
        fn any_text_is_a_position_or_an_error(text in any::<String>()) {
            if let Ok(position) = InCategory::read(&text) {
                prop_assert_eq!(position.position(), text);
            }
        }
    }
}
