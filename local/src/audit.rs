//! Checks that a whole table keeps the shop's invariants.
//!
//! An operator runs the audit over a table at rest, for example a restored one. The audit scans the table, because only
//! a scan finds items that no access pattern reaches. No function's role allows a scan. The audit writes nothing.

mod accounts;
mod order;
mod verdict;

use std::fmt;

use anyhow::{Context, Result};
use aws_sdk_dynamodb::Client;
use futures_util::{StreamExt, stream};
use key_schema::value::Timestamp;
use lambda::{Environment, Service};
use table::Item;

use self::accounts::Accounts;

/// The number of segments read in parallel. Within a segment, the items of a partition come one after the other.
const SEGMENTS: i32 = 4;

/// The time for which the stream's consumer retries a record, plus half an hour. A change older than that is counted or
/// lost.
pub const SETTLE_SECONDS: u32 = 23_400;

/// The result of an audit.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of items.
    pub items: u64,
    /// The number of orders checked.
    pub orders: u64,
    /// The number of aggregates that could only be checked against bounds, because their orders changed after the
    /// horizon.
    pub unsettled: u64,
    /// The breaches found.
    pub breaches: Vec<Breach>,
}

/// A breach of an invariant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// The key of the item, or the name of the aggregate.
    pub of: String,
    /// A description of the breach.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.of, self.what)
    }
}

/// Reads the whole table, and checks it. Changes before the horizon must be counted. `progress` receives the number of
/// items read so far.
///
/// # Errors
/// The environment has no region or no credentials, or the table cannot be read.
pub async fn audit(
    environment: &Environment,
    table: &str,
    horizon: Timestamp,
    progress: impl Fn(u64),
) -> Result<Report> {
    let client = environment.client(Service::DynamoDb, Client::new)?;
    let segments = (0..SEGMENTS).map(|segment| Box::pin(pages(&client, table, segment)));
    let mut pages = stream::select_all(segments);

    let mut accounts = Accounts::new(horizon);
    while let Some(page) = pages.next().await {
        page?.into_iter().for_each(|item| accounts.add(item));
        progress(accounts.items());
    }
    Ok(accounts.close())
}

/// The pages of one segment.
fn pages(client: &Client, table: &str, segment: i32) -> impl futures_util::Stream<Item = Result<Vec<Item>>> {
    let scan = client.scan().table_name(table).consistent_read(true).segment(segment).total_segments(SEGMENTS);
    stream::unfold(Some((scan, None)), |next| async {
        let (scan, start) = next?;
        let page = scan.clone().set_exclusive_start_key(start).send().await;
        match page.context("the table cannot be read") {
            Ok(page) => {
                let next = page.last_evaluated_key.map(|key| (scan, Some(key)));
                Some((Ok(page.items.unwrap_or_default()), next))
            }
            Err(error) => Some((Err(error), None)),
        }
    })
}
