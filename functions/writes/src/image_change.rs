//! Changing the list of a product's images.

use http_api::{Kind, Problem};
use images::MOST;
use key_schema::access::Access;
use key_schema::entity::Product;
use key_schema::layout::Consistency;
use key_schema::value::{ImageId, ProductId};
use lambda::Retries;
use table::{Budget, Condition, Error, Reader, Write, Writer, Written};

/// A read of the product, and its change.
pub(crate) const ACCESS: &[Access] = &[Access::batch_get::<Product>(), Access::update::<Product>()];

/// The product, strongly consistent.
pub(crate) async fn product(table: &Reader, id: &ProductId, budget: Budget) -> Result<Product, Problem> {
    let found = table.batch::<Product>(vec![Product::key_of(id)], Consistency::Strong, budget).await?;
    found.into_iter().next().ok_or_else(|| Problem::not_found("product"))
}

/// Gives the product these images, and returns it. `None` if another request has changed the product since it was read.
pub(crate) async fn write(
    writer: &Writer,
    before: &Product,
    images: Vec<ImageId>,
    budget: Budget,
) -> Result<Option<Product>, Error> {
    let after = Product { images, version: before.version + 1, ..before.clone() };
    let write = Write::change(before, &after, Condition::version(before.version)?)?;
    let written = writer.write(write, budget).await?;
    Ok(matches!(written, Written::Done).then_some(after))
}

/// Pauses before the product is read again.
///
/// # Errors
/// There is no time left.
pub(crate) async fn pause(retries: &mut Retries) -> Result<(), Error> {
    if retries.pause().await {
        Ok(())
    } else {
        Err(Error::contention("other requests were changing the product for too long"))
    }
}

/// Refuses another image for a product that has as many as it may have.
pub(crate) fn has_room(product: &Product) -> Result<(), Problem> {
    if product.images.len() < MOST {
        return Ok(());
    }
    let detail = format!("The product has {MOST} images. Remove one before you add another.");
    Err(Problem::new(Kind::TooManyImages, detail))
}
