//! Schedule: deletes the objects of images that their products do not name.
//!
//! Such an object is left by an upload that nobody confirmed, by a removal that stopped halfway, and by a product that is
//! gone. Only objects of more than a day are looked at, which no request can add to a product any more. So the product
//! that is read after the list says for certain whether it names the image, and concurrent runs do no harm. A run stores no
//! progress: the next one begins anew.

use std::collections::BTreeMap;
use std::time::Duration;

use images::{Garbage, Store};
use key_schema::access::Access;
use key_schema::entity::Product;
use key_schema::layout::Consistency;
use key_schema::value::{ImageId, ProductId};
use lambda::{Error, Grant, Measure};
use serde::{Deserialize, Serialize};
use table::{Budget, Reader};
use tokio::time::Instant;
use tracing::{error, info};

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[&[Access::batch_get::<Product>()]];

/// The function's permissions on the bucket.
pub const GRANTS: &[Grant] = &[images::DELETE, images::LIST];

/// With less time left, no further object is deleted.
const ONE_OBJECT: Duration = Duration::from_secs(10);

/// The most products of one read, as DynamoDB takes them.
const PRODUCTS: usize = 100;

/// A scheduled event. Its content does not matter.
#[derive(Debug, Deserialize)]
pub struct ScheduledEvent {}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of images whose products were read.
    images: u64,
    /// The number of objects that this run deleted.
    deleted: u64,
    /// The number of objects that could not be deleted. The log has the causes, and the next run tries again.
    failed: u64,
    /// Whether the run reached the end of the list.
    done: bool,
}

/// Lists all objects, one page after the other. A page that takes longer than the time that is left ends the run.
pub async fn handle(
    (table, garbage, store): (Reader, Garbage, Store),
    _: ScheduledEvent,
    time: Duration,
) -> Result<Report, Error> {
    let end = Instant::now() + time.saturating_sub(ONE_OBJECT);
    let (mut report, mut token) = (Report::default(), None);
    loop {
        let page = garbage.page(token).await?;
        let old: Vec<_> = page.old.into_iter().collect();
        for some in old.chunks(PRODUCTS) {
            for (product, image) in unnamed(&table, some).await? {
                if Instant::now() >= end {
                    return Ok(report.told());
                }
                report.add(product, image, store.delete(product, image).await);
            }
            report.images += some.iter().map(|(_, images)| images.len() as u64).sum::<u64>();
        }
        token = page.next;
        if token.is_none() {
            report.done = true;
            return Ok(report.told());
        }
        if Instant::now() >= end {
            return Ok(report.told());
        }
    }
}

/// Those of the images that their products do not name.
async fn unnamed<'a>(
    table: &Reader,
    images: &'a [(ProductId, Vec<ImageId>)],
) -> Result<Vec<(&'a ProductId, &'a ImageId)>, Error> {
    let keys = images.iter().map(|(product, _)| Product::key_of(product)).collect();
    let products: Vec<Product> = table.batch(keys, Consistency::Strong, Budget::of(ONE_OBJECT)).await?;
    let named: BTreeMap<_, _> = products.iter().map(|product| (&product.product_id, &product.images)).collect();
    let all = images.iter().flat_map(|(product, images)| images.iter().map(move |image| (product, image)));
    Ok(all.filter(|(product, image)| !named.get(product).is_some_and(|named| named.contains(image))).collect())
}

impl Report {
    fn add(&mut self, product: &ProductId, image: &ImageId, deleted: Result<(), impl std::error::Error + 'static>) {
        match deleted {
            Ok(()) => self.deleted += 1,
            Err(cause) => {
                self.failed += 1;
                let cause = lambda::chain(&cause);
                error!(%product, %image, cause, "the object of an image was not deleted");
            }
        }
    }

    /// Writes the report to the log and as metrics.
    fn told(self) -> Self {
        let Self { images, deleted, failed, done } = self;
        info!(images, deleted, failed, done, "objects without a product deleted");
        lambda::metrics(&[
            ("ImagesDeleted", Measure::Count(deleted)),
            ("ImageDeletionsFailed", Measure::Count(failed)),
        ]);
        self
    }
}
