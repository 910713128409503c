//! Products: the item collection of product, long description, stock and stats.

use crate::entity::{Product, ProductDescription, ProductStats, Stock};
use crate::value::{Category, ProductId};

use super::{Bound, Key, Pattern, Place, PlaceText, Stored, Template, collection};

/// The partition of a product in the table. Also its sort key in lists of products and in orders.
pub(super) const COLLECTION: Template<ProductId> = Template::new("p#{productId}");

const PRODUCT: Place<ProductId, ProductId> = Place::table(COLLECTION, COLLECTION);
const OF_CATEGORY: Place<Category, ProductId> = Place::gsi1(Template::new("cat#{category}"), COLLECTION);
const OF_PRODUCT: Place<ProductId, ProductId> = Place::gsi2(COLLECTION, COLLECTION);
const DESCRIPTION: Place<ProductId, ()> = Place::table(COLLECTION, Template::new("description"));
const STOCK: Place<ProductId, ()> = Place::table(COLLECTION, Template::new("stock"));
const STATS: Place<ProductId, ()> = Place::table(COLLECTION, Template::new("stats"));

/// A product with its description, stock and stats.
pub const PRODUCT_BY_ID: Pattern<ProductId, InProduct> =
    PRODUCT.collection(2, "a product by id, with description, stock and stats", Bound::AtMost(4)).eventual();
/// The listed products of a category, sorted by product id.
pub const PRODUCTS_OF_CATEGORY: Pattern<Category, Product> = OF_CATEGORY.list(14, "the products of a category");
/// The variants of a product, listed or not, sorted by product id.
pub const VARIANTS_OF_PRODUCT: Pattern<ProductId, Product> = OF_PRODUCT.list(32, "the variants of a product");

impl Stored for Product {
    const PLACES: &'static [PlaceText] = &[PRODUCT.text(), OF_CATEGORY.text(), OF_PRODUCT.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        let in_list = self.listed.then(|| OF_CATEGORY.key(&self.category, &self.product_id));
        let of_product = self.variant_of.as_ref().map(|product| OF_PRODUCT.key(product, &self.product_id));
        in_list.into_iter().chain(of_product).collect()
    }
}

impl Product {
    /// The key of a product.
    pub fn key_of(product: &ProductId) -> Key {
        PRODUCT.key(product, product)
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
        DESCRIPTION.key(product, ())
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
        STOCK.key(product, ())
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
        STATS.key(product, ())
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

impl InProduct {
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
