//! Schedule: deletes the objects of images that their products do not name.
//!
//! Such an object is left by an upload that nobody confirmed, by a removal that stopped halfway, and by a product that is
//! gone. Only objects of more than a day are looked at, which no request can add to a product any more. So the product
//! that is read after the list says for certain whether it names the image, and concurrent runs do no harm. A run stores no
//! progress: the next one begins anew. A run that leaves something behind fails, so Lambda repeats it twice, and an alarm
//! counts the failures.

use std::collections::BTreeMap;
use std::time::Duration;

use images::{Garbage, Store};
use key_schema::access::Access;
use key_schema::entity::Product;
use key_schema::layout::Consistency;
use key_schema::value::{ImageId, ProductId};
use lambda::{Error, Grant, ScheduledEvent};
use serde::Serialize;
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

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of images whose products were read.
    images: u64,
    /// The number of objects that this run deleted.
    deleted: u64,
    /// The number of objects that could not be deleted. The log has the causes.
    #[serde(skip)]
    failed: u64,
    /// Whether the run reached the end of the list.
    done: bool,
}

/// Lists all objects, one page after the other.
///
/// # Errors
/// The list or a product cannot be read, an object cannot be deleted, or the time is over before the end of the list.
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
                    return report.end(false);
                }
                report.add(product, image, store.delete(product, image).await);
            }
            report.images += some.iter().map(|(_, images)| images.len() as u64).sum::<u64>();
        }
        token = page.next;
        if token.is_none() {
            return report.end(true);
        }
        if Instant::now() >= end {
            return report.end(false);
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
    Ok(all
        .filter(|(product, image)| {
            !named.get(product).is_some_and(|named| named.iter().any(|one| one.image_id == **image))
        })
        .collect())
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

    /// Writes the report to the log. A run that leaves something to the next one fails.
    fn end(self, done: bool) -> Result<Self, Error> {
        let Self { images, deleted, failed, .. } = self;
        info!(images, deleted, failed, done, "objects without a product deleted");
        match (failed, done) {
            (0, true) => Ok(Self { done, ..self }),
            (0, false) => Err("the time was over before the end of the list".into()),
            (failed, _) => Err(format!("{failed} objects were not deleted").into()),
        }
    }
}
