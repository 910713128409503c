//! The catalogue: the numbers of products in its categories, the long descriptions of products, and the products of a cart.
//!
//! The transaction that writes a product also changes the number of its category. So the numbers are exact at every moment,
//! whatever is repeated, interrupted or done at once. Only listed products are counted.
//!
//! A long description is in an item of its own. It is written in the transaction that changes the product's item, which
//! has the beginning of the description and the hash of the whole. [`described`] puts the two together.
//!
//! **Invariant: the number of a category is the number of its listed products, and a product that has the hash of a description has an item with that description. No other crate writes any of these.**

#![warn(missing_docs)]

mod availability;
mod description;
mod products;

pub use availability::FewLeft;
pub use description::{Described, SNAPSHOT_OF_DESCRIPTION, describe, described};
pub use products::{READ_PRODUCTS, products};

use key_schema::access::Access;
use key_schema::entity::{CategoryCount, Product, ProductDescription};
use key_schema::value::Category;
use table::{Error, Write};

/// Counting a new product, and writing its long description.
pub const CREATE: &[Access] =
    &[Access::update::<CategoryCount>().in_transactions(), Access::put::<ProductDescription>().in_transactions()];

/// Counting a product that changes, and writing another description.
pub const CHANGE: &[Access] = &[
    Access::update::<CategoryCount>().in_transactions(),
    Access::put::<ProductDescription>().in_transactions(),
    Access::delete::<ProductDescription>().in_transactions(),
];

/// The write that counts a new product, for the transaction that creates it. `None` if it is not listed.
///
/// # Errors
/// A value that cannot be written: a defect.
pub fn enter(product: &Product) -> Result<Option<Write>, Error> {
    product.counted_in().map(|category| add(category, 1)).transpose()
}

/// The writes that count a product in its category, for the transaction that changes it `from` this `to` that. None if it
/// is counted there already, or is still not listed. The transaction has the condition that the product's version is
/// unchanged.
///
/// # Errors
/// A value that cannot be written: a defect.
pub fn recount(from: &Product, to: &Product) -> Result<Vec<Write>, Error> {
    if from.counted_in() == to.counted_in() {
        return Ok(Vec::new());
    }
    let taken = from.counted_in().into_iter().map(|category| add(category, -1));
    let put = to.counted_in().into_iter().map(|category| add(category, 1));
    taken.chain(put).collect()
}

fn add(category: &Category, products: i64) -> Result<Write, Error> {
    Write::add(&CategoryCount { category: category.clone(), products })
}
