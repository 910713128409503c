//! SQS: brings the search index up to date with the products that have changed.
//!
//! A message is an event `ProductChanged`, `AvailabilityChanged` or `ProductRemoved`, of which only the product's id is
//! read: the table says what the index should have (the crate `search`). A message that fails comes back after its visibility
//! timeout, and in the end goes to the dead-letter queue.

use std::collections::BTreeSet;
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use key_schema::access::Access;
use key_schema::entity::{Product, ProductDescription};
use key_schema::value::ProductId;
use lambda::{Budget, Error, Grant, Measure};
use search::Search;
use table::Reader;
use tracing::{error, info};

use crate::product_messages::ProductMessages;

/// The function's access to the table.
pub const ACCESS: &[&[Access]] =
    &[&[Access::batch_get::<Product>(), Access::batch_get::<ProductDescription>()], catalogue::SNAPSHOT_OF_DESCRIPTION];

/// The function's permissions on other services.
pub const GRANTS: &[Grant] = &[
    search::READ_SECRET,
    Grant::new(&["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], "ProductChanges"),
];

pub async fn handle(
    (search, reader): (Search, Reader),
    event: SqsEvent,
    time: Duration,
) -> Result<SqsBatchResponse, Error> {
    let messages = ProductMessages::from(event);
    let products = messages.products();
    let not_indexed = index(&search, &reader, &products, Budget::of(time)).await;
    let (failed, indexed) = (not_indexed.len() as u64, (products.len() - not_indexed.len()) as u64);
    info!(indexed, failed, "products indexed");
    lambda::metrics(&[("ProductsIndexed", Measure::Count(indexed)), ("ProductsNotIndexed", Measure::Count(failed))]);
    Ok(messages.failed(&not_indexed))
}

/// Brings the products up to date in each index that is written. Returns those that could not be, in any of them.
async fn index(search: &Search, reader: &Reader, products: &[ProductId], budget: Budget) -> BTreeSet<ProductId> {
    let mut failed = BTreeSet::new();
    let written = match search.written().await {
        Ok(written) => written,
        Err(error) => {
            error!(cause = lambda::chain(&error), "the search index cannot be written");
            return products.iter().cloned().collect();
        }
    };
    for index in written {
        for some in products.chunks(search::sync::MOST) {
            match search.sync(&index, reader, some, budget).await {
                Ok(products) => {
                    for (product, error) in products {
                        error!(%product, cause = lambda::chain(&error), "a product was not indexed");
                        failed.insert(product);
                    }
                }
                // Deleted since the list of indexes was read: the index that replaced it has what was to be written.
                Err(search::Error::Replaced) => break,
                Err(error) => {
                    error!(cause = lambda::chain(&error), "the search index cannot be written");
                    failed.extend(some.iter().cloned());
                }
            }
        }
    }
    failed
}
