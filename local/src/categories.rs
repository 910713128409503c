//! Counting the products that a release wrote which did not count.

use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures_util::StreamExt as _;
use key_schema::entity::{Entity as _, Product};
use key_schema::layout::{Consistency, ENTITY_TYPE};
use key_schema::value::ProductId;
use lambda::{Budget, Environment, FromEnvironment as _};
use table::{Commit, Reader, Write, Writer, read_item};

use crate::scan;

/// The time for counting one product.
const BUDGET: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The number of products in the table.
    pub products: u64,
    /// The number of products that were not counted in their category before.
    pub counted: u64,
}

/// Counts each product of the table of this environment  in its category, unless it is counted there. The
/// shop may be open, and the command may be interrupted and repeated: a product is counted in a transaction of its own.
///
/// # Errors
/// The table cannot be read or written.
pub async fn count(environment: &Environment, progress: impl Fn(u64)) -> Result<Counted> {
    let (reader, writer) = (Reader::from_environment(environment)?, Writer::from_environment(environment)?);
    let mut pages = pin!(scan::pages(environment).await?);
    let (mut found, mut items) = (Counted::default(), 0);
    while let Some(page) = pages.next().await {
        let (_, page) = page?;
        items += page.len() as u64;
        for item in page {
            if item.get(ENTITY_TYPE).and_then(|kind| kind.as_s().ok()).is_some_and(|kind| kind == Product::TYPE) {
                let product = read_item::<Product>(item).context("a product cannot be read")?;
                found.products += 1;
                found.counted += u64::from(count_product(&reader, &writer, product).await?);
            }
        }
        progress(items);
    }
    Ok(found)
}

/// Counts a product, and returns whether that was needed.
async fn count_product(reader: &Reader, writer: &Writer, mut product: Product) -> Result<bool> {
    let budget = Budget::of(BUDGET);
    let mut retries = budget.retries();
    loop {
        let counted = product.clone().counted();
        if counted == product {
            return Ok(false);
        }
        let mut writing = vec![Write::change(&product, &counted, catalogue::unchanged(&product)?)?];
        writing.extend(catalogue::recount(&product, &counted)?);
        let id = product.product_id.clone();
        let outcome = writer.commit(writing, budget).await;
        if let Commit::Done = outcome.with_context(|| format!("product {id} cannot be counted"))? {
            return Ok(true);
        }
        let Some(changed) = read(reader, &id, budget).await? else { return Ok(false) };
        product = changed;
        ensure!(retries.pause().await, "product {id} was changed by others for too long");
    }
}

async fn read(reader: &Reader, id: &ProductId, budget: Budget) -> Result<Option<Product>> {
    let found = reader.batch(vec![Product::key_of(id)], Consistency::Strong, budget).await?;
    Ok(found.into_iter().next())
}
