//! A walk over a whole table, strongly consistent. The audit and the exports need it, because only a scan finds items that
//! no access pattern reaches. No function's role allows a scan.
//!
//! Every walk of this crate goes through [`segment`], whose cost for each item must not depend on the table's size.

use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use key_schema::entity::{Entity as _, Product};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::ProductId;
use lambda::{Environment, Failure as _, FromEnvironment as _, Remedy};
use table::{Error, Item, Segment, WholeTable, read_item};
use tokio::time::sleep;

/// The number of segments read in parallel. Within a segment, the items of a partition come one after the other.
const SEGMENTS: u8 = 4;
/// The number of times that a request is repeated which is throttled or not answered: a busy machine may need more than
/// the 3 s of an attempt. The pauses take about a minute.
const ATTEMPTS: u32 = 10;

/// Makes a request, and makes it again if DynamoDB throttles or does not answer.
pub(crate) async fn patiently<T, F: Future<Output = Result<T, Error>>>(request: impl Fn() -> F) -> Result<T, Error> {
    let mut attempt = 0;
    loop {
        match request().await {
            Err(error) if error.remedy() == Remedy::Retry && attempt < ATTEMPTS => {
                attempt += 1;
                sleep(Duration::from_millis(50 << attempt)).await;
            }
            outcome => return outcome,
        }
    }
}

/// The pages of a segment, each with its read units. A page is read when it is asked for. The items are as the table has
/// them.
pub(crate) fn segment(
    table: WholeTable,
    segment: Segment,
) -> impl Stream<Item = Result<(Vec<Item>, f64)>> + Unpin + Send {
    // The key to begin after, in an `Option` that is `None` behind the last page.
    Box::pin(stream::try_unfold((table, Some(None)), move |(table, after)| async move {
        let Some(after) = after else { return Ok(None) };
        let read = patiently(|| table.page(segment, after.as_ref())).await;
        let (items, last, units) = read.context("the table cannot be read")?;
        Ok(Some(((items, units), (table, last.map(Some)))))
    }))
}

/// The pages of all segments of the table of this environment, each with the number of its segment. A page is read when it
/// is asked for. The keys of the items are canonical, whatever layout the table has. If the environment names the two
/// tables of a migration, the table is the one that leads now.
///
/// # Errors
/// The environment has no table, no region or no credentials, or the phase of the migration cannot be read. A page
/// fails if the table cannot be read.
pub(crate) async fn pages(environment: &Environment) -> Result<impl Stream<Item = Result<(u8, Vec<Item>)>> + use<>> {
    let table = WholeTable::from_environment(environment)?.leading().await.context("the phase cannot be read")?;
    let segments = (0..SEGMENTS).map(move |number| {
        let (table, of) = (table.clone(), Segment { number: number.into(), of: SEGMENTS.into() });
        let pages = segment(table.clone(), of);
        pages.map_ok(move |(items, _)| (number, items.into_iter().map(|item| table.canonical(item)).collect()))
    });
    Ok(stream::select_all(segments.collect::<Vec<_>>()))
}

/// The products of each page. `progress` receives the number of items read so far.
///
/// # Errors
/// As those of [`pages`]. A page also fails if a product cannot be read.
pub(crate) async fn products(
    environment: &Environment,
    progress: impl Fn(u64),
) -> Result<impl Stream<Item = Result<Vec<ProductId>>>> {
    let mut items = 0;
    Ok(pages(environment).await?.map(move |page| {
        let (_, page) = page?;
        items += page.len() as u64;
        progress(items);
        let is_product = |item: &Item| {
            item.get(ENTITY_TYPE).and_then(|kind| kind.as_s().ok()).is_some_and(|kind| kind == Product::TYPE)
        };
        let products = page.into_iter().filter(is_product).map(read_item::<Product>);
        products.map(|read| Ok(read.context("a product cannot be read")?.product_id)).collect()
    }))
}
