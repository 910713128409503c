//! The products of a cart.

use std::collections::HashMap;

use key_schema::access::Access;
use key_schema::entity::{Cart, Product};
use key_schema::layout::{Consistency, Key};
use key_schema::value::ProductId;
use serde::Deserialize;
use table::{Budget, Error, Reader};

/// The reads of [`products`].
pub const READ_PRODUCTS: &[Access] = &[Access::batch_get::<Product>()];

/// An item that is read for a cart.
#[derive(Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
enum ForCart {
    Product(Product),
    Cart(Cart),
}

/// The products with these ids, as far as they exist, and the cart with this key. At most 100 of both.
///
/// The shop never deletes products, so one that the cheap read finds exists. Only if it finds too few, they are read again,
/// strongly consistent. So this takes one BatchGetItem, and seldom two; none without ids.
///
/// # Errors
/// DynamoDB does not answer in time, or an item cannot be read.
pub async fn products<'a>(
    table: &Reader,
    ids: impl IntoIterator<Item = &'a ProductId>,
    mut cart: Option<Key>,
    budget: Budget,
) -> Result<(HashMap<ProductId, Product>, Option<Cart>), Error> {
    let (mut products, mut found) = (HashMap::new(), None);
    let mut unknown: Vec<_> = ids.into_iter().collect();
    for consistency in [Consistency::Eventual, Consistency::Strong] {
        if unknown.is_empty() {
            break;
        }
        let keys = unknown.iter().map(|id| Product::key_of(id)).chain(cart.take()).collect();
        for item in table.batch(keys, consistency, budget).await? {
            match item {
                ForCart::Product(product) => {
                    products.insert(product.product_id.clone(), product);
                }
                ForCart::Cart(cart) => found = Some(cart),
            }
        }
        unknown.retain(|id| !products.contains_key(*id));
    }
    Ok((products, found))
}
