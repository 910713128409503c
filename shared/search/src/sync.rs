//! Bringing the documents of products up to date.
//!
//! A change is only a hint that a product may differ from its document. For each product: read the document, then read the
//! table with a strongly consistent read, and write what the table says, if nobody has written the document meanwhile.
//!
//! So every write says what the table said at a moment after the write before it, and the writes of a document are in the
//! order of the table's states. The last hint of a product comes after its last change, so it leaves the document as the
//! table is. Hints that come late, twice or in another order do no harm.
//!
//! The document is written even if it already is as the table says. Its new sequence number stops every writer that read the
//! table earlier: a product may have been created and removed between two reads of the table, and a writer that read it in
//! between would bring it back.
//!
//! A document that was written stays for the life of its index: a removed product leaves a tombstone. Otherwise "there was
//! never a document" could be true a second time, and a write that began before the product was removed would bring it
//! back.

use std::collections::HashMap;

use catalogue::Described;
use key_schema::entity::{Product, ProductDescription};
use key_schema::layout::Consistency;
use key_schema::value::ProductId;
use lambda::Budget;
use serde_json::Value;
use table::Reader;

use crate::document::{document, tombstone};
use crate::{Error, IndexName, Search};

/// The most products to bring up to date at once: the most keys of a BatchGetItem.
pub const MOST: usize = 100;

impl Search {
    /// Brings the documents of these products, at most [`MOST`], up to date in an index. Returns the products that could
    /// not be, each with the reason. Each id is there once.
    ///
    /// # Errors
    /// The index or the table does not answer. [`Error::Replaced`] if the index is deleted.
    pub async fn sync(
        &self,
        index: &IndexName,
        reader: &Reader,
        ids: &[ProductId],
        budget: Budget,
    ) -> Result<Vec<(ProductId, Error)>, Error> {
        let (mut left, mut failed) = (ids.to_vec(), Vec::new());
        let mut retries = budget.retries();
        while !left.is_empty() {
            let mut contended = Vec::new();
            for (id, error) in self.sync_once(index, reader, &left, budget).await? {
                match error {
                    Error::Contention => contended.push(id),
                    error => failed.push((id, error)),
                }
            }
            left = contended;
            if !left.is_empty() && !retries.pause().await {
                failed.extend(left.into_iter().map(|id| (id, Error::Contention)));
                break;
            }
        }
        Ok(failed)
    }

    async fn sync_once(
        &self,
        index: &IndexName,
        reader: &Reader,
        ids: &[ProductId],
        budget: Budget,
    ) -> Result<Vec<(ProductId, Error)>, Error> {
        // In this order: the table is read after the document.
        let seen = self.on()?.documents(index, ids).await?;
        let mut found = described(reader, ids, budget).await?;
        let wanted = ids.iter().zip(seen).map(|(id, seen)| (id.clone(), seen, wanted(id, found.remove(id))));
        let writes: Vec<_> = wanted.collect();
        let mut failed = Vec::new();
        let outcomes = self.on()?.write(index, &writes).await?;
        for ((id, ..), outcome) in writes.into_iter().zip(outcomes) {
            match outcome {
                Ok(()) => {}
                Err(Error::Replaced) => return Err(Error::Replaced),
                Err(error) => failed.push((id, error)),
            }
        }
        Ok(failed)
    }
}

/// The products with these ids, with their whole descriptions. One request, and another one if some descriptions are long.
async fn described(
    reader: &Reader,
    ids: &[ProductId],
    budget: Budget,
) -> Result<HashMap<ProductId, Described>, table::Error> {
    let keys = ids.iter().map(Product::key_of).collect();
    let products: Vec<Product> = reader.batch(keys, Consistency::Strong, budget).await?;
    let continue_elsewhere = products.iter().filter(|product| product.description_continues());
    let keys: Vec<_> = continue_elsewhere.map(|product| ProductDescription::key_of(&product.product_id)).collect();
    let long: Vec<ProductDescription> =
        if keys.is_empty() { Vec::new() } else { reader.batch(keys, Consistency::Strong, budget).await? };
    let mut long: HashMap<_, _> = long.into_iter().map(|long| (long.product_id.clone(), long)).collect();
    let mut found = HashMap::new();
    for product in products {
        let (id, long) = (product.product_id.clone(), long.remove(&product.product_id));
        found.extend(catalogue::described(reader, product, long, budget).await?.map(|described| (id, described)));
    }
    Ok(found)
}

/// The document of a product, or the tombstone of one that is not in the table, or not listed.
fn wanted(id: &ProductId, product: Option<Described>) -> Value {
    product.filter(|described| described.product.listed).map_or_else(|| tombstone(id), document)
}

#[cfg(test)]
#[path = "sync_tests.rs"]
mod tests;
