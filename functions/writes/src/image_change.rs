//! Changing the list of a product's images.

use http_api::{Kind, Problem};
use images::{MOST, Store};
use key_schema::access::Access;
use key_schema::entity::Product;
use table::{Reader, Writer};

/// A read of the product, and its change.
pub(crate) const ACCESS: &[Access] = &[Access::batch_get::<Product>(), Access::update::<Product>()];

/// The dependencies of the routes that change the images of a product.
#[derive(Clone)]
pub struct Deps {
    pub(crate) table: Reader,
    pub(crate) writer: Writer,
    pub(crate) store: Store,
}

lambda::from_environment!(Deps { table, writer, store });

/// Refuses another image for a product that has as many as it may have.
pub(crate) fn has_room(product: &Product) -> Result<(), Problem> {
    if product.images.len() < MOST {
        return Ok(());
    }
    let detail = format!("The product has {MOST} images. Remove one before you add another.");
    Err(Problem::new(Kind::TooManyImages, detail))
}
