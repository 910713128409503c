//! The long descriptions of products, in items of their own.

use key_schema::access::Access;
use key_schema::entity::{Product, ProductDescription};
use key_schema::layout::InProduct;
use table::{Budget, Error, Reader, Write};

/// A snapshot read of a product and its long description.
pub const SNAPSHOT_OF_DESCRIPTION: &[Access] =
    &[Access::transact_get::<Product>(), Access::transact_get::<ProductDescription>()];

/// The write of the description, for the transaction that changes a product `from` this `to` that. `long` is the item
/// with the description, if it is long. The transaction has the condition that the product's version is unchanged.
///
/// # Errors
/// A value that cannot be written: a defect.
pub fn describe(from: &Product, to: &Product, long: Option<&ProductDescription>) -> Result<Option<Write>, Error> {
    match long {
        Some(_) if from.whole_description == to.whole_description => Ok(None),
        Some(long) => Write::put(long).map(Some),
        None if from.description_continues() && !to.description_continues() => {
            Ok(Some(Write::delete(ProductDescription::key_of(&to.product_id))))
        }
        None => Ok(None),
    }
}

/// A product with its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The product.
    pub product: Product,
    /// The whole description. `None` if the item with it is not there, so that only the beginning is known. No request
    /// causes that.
    pub description: Option<String>,
}

/// A product with its whole description, from the items that one read has found. No request, unless the two items are of
/// different versions of the product: then a snapshot read. `None` if the product is gone.
///
/// # Errors
/// Those of any read.
pub async fn described(
    reader: &Reader,
    product: Product,
    long: Option<ProductDescription>,
    budget: Budget,
) -> Result<Option<Described>, Error> {
    if let Some(description) = product.whole_description(long) {
        return Ok(Some(Described { product, description: Some(description) }));
    }
    let id = &product.product_id;
    let keys = vec![Product::key_of(id), ProductDescription::key_of(id)];
    let (mut product, mut long) = (None, None);
    for item in reader.transact_get(keys, budget).await? {
        match item {
            InProduct::Product(found) => product = Some(found),
            InProduct::ProductDescription(found) => long = Some(found),
            _ => {}
        }
    }
    let Some(product): Option<Product> = product else { return Ok(None) };
    let description = product.whole_description(long);
    Ok(Some(Described { product, description }))
}
