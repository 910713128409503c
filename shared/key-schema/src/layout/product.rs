//! Products: the item collection of product, long description, stock and stats.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 2 [`ProductById`] | table | `p#{productId}` | all |
//! | 14 [`ProductsOfCategory`] | GSI1 | `cat#{category}` | `p#{productId}` |
//! | 32 [`VariantsOfProduct`] | GSI2 | `p#{productId}` | `p#{productId}` |

use crate::entity::{Entity as _, Product, ProductDescription, ProductStats, Stock};
use crate::value::{Category, ProductId};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    collection,
};

/// The partition of a product in the table. Also its sort key in lists of products and in orders.
pub(super) const COLLECTION: Template<(ProductId,)> = Template::new("p#{productId}");

const PRODUCT: Place<(ProductId,), (ProductId,)> = Place::table(COLLECTION, COLLECTION);
const OF_CATEGORY: Place<(Category,), (ProductId,)> = Place::gsi1(Template::new("cat#{category}"), COLLECTION);
const OF_PRODUCT: Place<(ProductId,), (ProductId,)> = Place::gsi2(COLLECTION, COLLECTION);
const DESCRIPTION: Place<(ProductId,), ()> = Place::table(COLLECTION, Template::new("description"));
const STOCK: Place<(ProductId,), ()> = Place::table(COLLECTION, Template::new("stock"));
const STATS: Place<(ProductId,), ()> = Place::table(COLLECTION, Template::new("stats"));

impl Stored for Product {
    const PLACES: &'static [PlaceText] = &[PRODUCT.text(), OF_CATEGORY.text(), OF_PRODUCT.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        let in_list = self.listed.then(|| OF_CATEGORY.key((&self.category,), (&self.product_id,)));
        let of_product = self.variant_of.as_ref().map(|product| OF_PRODUCT.key((product,), (&self.product_id,)));
        in_list.into_iter().chain(of_product).collect()
    }
}

impl Product {
    /// The key of a product.
    pub fn key_of(product: &ProductId) -> Key {
        PRODUCT.key((product,), (product,))
    }
}

impl Stored for ProductDescription {
    const PLACES: &'static [PlaceText] = &[DESCRIPTION.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id)
    }
}

impl ProductDescription {
    /// The key of a product's long description.
    pub fn key_of(product: &ProductId) -> Key {
        DESCRIPTION.key((product,), ())
    }
}

impl Stored for Stock {
    const PLACES: &'static [PlaceText] = &[STOCK.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id)
    }
}

impl Stock {
    /// The key of a product's stock.
    pub fn key_of(product: &ProductId) -> Key {
        STOCK.key((product,), ())
    }
}

impl Stored for ProductStats {
    const PLACES: &'static [PlaceText] = &[STATS.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id)
    }
}

impl ProductStats {
    /// The key of a product's stats.
    pub fn key_of(product: &ProductId) -> Key {
        STATS.key((product,), ())
    }
}

collection! {
    /// An item of a product's collection.
    InProduct {
        Product
        /// The whole description, if it is long.
        ProductDescription
        /// The stock, or its first cell.
        Stock
        /// The counters of the product's sales.
        ProductStats
    }
}

/// The items of a product's collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeProduct {
    pub product: Product,
    /// The whole description, if it is long: see [`Product::whole_description`].
    pub long_description: Option<ProductDescription>,
    /// The stock, or its first cell.
    pub stock: Stock,
    pub stats: Option<ProductStats>,
}

/// A product with its description, stock and stats.
pub struct ProductById<'a> {
    pub id: &'a ProductId,
}

impl ProductById<'_> {
    /// Assembles the items of the collection. `None` if product or stock is missing.
    pub fn assemble(items: Vec<InProduct>) -> Option<WholeProduct> {
        let (mut product, mut long_description, mut stock, mut stats) = (None, None, None, None);
        for item in items {
            match item {
                InProduct::Product(found) => product = Some(found),
                InProduct::ProductDescription(found) => long_description = Some(found),
                InProduct::Stock(found) => stock = Some(found),
                InProduct::ProductStats(found) => stats = Some(found),
                InProduct::Unknown => {}
            }
        }
        Some(WholeProduct { product: product?, long_description, stock: stock?, stats })
    }
}

impl AccessPattern for ProductById<'_> {
    type Item = InProduct;

    const DECLARED: Declaration = Declaration {
        number: 2,
        question: "a product by id, with description, stock and stats",
        place: PlaceText { sort: "", ..PRODUCT.text() },
        entities: InProduct::KINDS,
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Collection(4),
    };

    fn partition(&self) -> String {
        COLLECTION.fill((self.id,))
    }

    fn range(&self) -> SortRange {
        SortRange::Whole
    }
}

/// The listed products of a category, sorted by product id.
pub struct ProductsOfCategory<'a> {
    pub category: &'a Category,
}

impl AccessPattern for ProductsOfCategory<'_> {
    type Item = Product;

    const DECLARED: Declaration = Declaration {
        number: 14,
        question: "the products of a category",
        place: OF_CATEGORY.text(),
        entities: &[Product::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OF_CATEGORY.partition.fill((self.category,))
    }

    fn range(&self) -> SortRange {
        OF_CATEGORY.all()
    }
}

/// The variants of a product, listed or not, sorted by product id.
pub struct VariantsOfProduct<'a> {
    pub product: &'a ProductId,
}

impl AccessPattern for VariantsOfProduct<'_> {
    type Item = Product;

    const DECLARED: Declaration = Declaration {
        number: 32,
        question: "the variants of a product",
        place: OF_PRODUCT.text(),
        entities: &[Product::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OF_PRODUCT.partition.fill((self.product,))
    }

    fn range(&self) -> SortRange {
        OF_PRODUCT.all()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_product_is_in_the_list_and_counted_only_while_it_is_listed() {
        let listed: Product = serde_json::from_str(
            r#"{
                "productId": "cup", "name": "Cup", "description": "", "category": "kitchen",
                "price": { "amount": 1, "currency": "EUR" }, "initialStock": 0, "version": 1
            }"#,
        )
        .expect("a product");
        assert_eq!((listed.index_keys().len(), listed.counted_in()), (1, Some(&listed.category)));
        let unlisted = Product { listed: false, ..listed };
        assert_eq!((unlisted.index_keys(), unlisted.counted_in()), (Vec::new(), None));
    }
}
