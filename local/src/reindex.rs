//! Building the search index anew, while the shop is open and searched.

use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures_util::StreamExt as _;
use key_schema::value::ProductId;
use lambda::{Budget, Environment, FromEnvironment as _};
use search::{IndexName, Search};
use table::Reader;

use crate::scan;

const URL: &str = "SEARCH_URL";

/// The time for indexing up to a hundred products.
const BUDGET: Duration = Duration::from_secs(30);

/// Builds a new index from the table of this environment, lets customers search it, and deletes the old one.
/// Returns the number of products. `progress` receives the number of items read so far.
///
/// From the moment at which the new index exists, `index-products` writes both. So a change is either in the table before
/// the walk reads it, or reported to an index that exists. If this is interrupted, the old index stays the one that is
/// searched, and the next run deletes what this one left.
///
/// # Errors
/// The table cannot be read; a product is refused; the index does not answer; or another run has finished meanwhile.
pub async fn reindex(environment: &Environment, progress: impl Fn(u64)) -> Result<u64> {
    let (search, reader) = (Search::from_environment(environment)?, Reader::from_environment(environment)?);
    let index = search.create().await.context("no index can be created")?;
    let mut pages = pin!(scan::products(environment, progress).await?);
    let (mut products, mut waiting) = (0, Vec::new());
    while let Some(page) = pages.next().await {
        let page = page?;
        products += page.len() as u64;
        waiting.extend(page);
        while waiting.len() >= search::sync::MOST {
            let rest = waiting.split_off(search::sync::MOST);
            write(&search, &reader, &index, &std::mem::replace(&mut waiting, rest)).await?;
        }
    }
    write(&search, &reader, &index, &waiting).await?;
    search.refresh(&index).await.context("the new index is not complete")?;
    search.publish(&index).await.context("the new index cannot take the place of the old one")?;
    Ok(products)
}

async fn write(search: &Search, reader: &Reader, index: &IndexName, ids: &[ProductId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let failed =
        search.sync(index, reader, ids, Budget::of(BUDGET)).await.context("the new index cannot be written")?;
    match failed.into_iter().next() {
        Some((product, error)) => Err(error).with_context(|| format!("product {product} cannot be indexed")),
        None => Ok(()),
    }
}

/// Whether the functions of this environment have a search index. A template of somebody else's may be without one.
pub fn has_index(environment: &Environment) -> bool {
    environment.optional(URL).is_some_and(|url| !url.is_empty())
}

/// The variables of a search cluster at this URL, with the user in this secret.
pub fn variables(url: &str, secret: Option<&str>) -> [(String, String); 2] {
    [(URL, url), ("SEARCH_SECRET_ARN", secret.unwrap_or_default())]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}
