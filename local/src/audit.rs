//! Whether a whole table keeps the shop's laws.
//!
//! For an operator, over a table at rest: one that was restored, say. It scans the table, which no function may,
//! because only that finds what no access pattern leads to. It writes nothing.

mod books;
mod ledger;
mod verdict;

use std::fmt;

use anyhow::{Context, Result};
use aws_sdk_dynamodb::Client;
use futures_util::{StreamExt, stream};
use key_schema::value::Timestamp;
use lambda::{Environment, Service};
use table::Item;

use self::ledger::Ledger;

/// So many parts of the table are read at a time. Within each, the items of a partition come one after the other.
const SEGMENTS: i32 = 4;

/// For how long the consumer of the stream tries a record, and half an hour: what changed before that is counted, or
/// lost.
pub const SETTLE_SECONDS: u32 = 23_400;

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many items there are.
    pub items: u64,
    /// How many orders were checked.
    pub orders: u64,
    /// Whose counters are only known to be possible, because their orders changed after the horizon.
    pub unsettled: u64,
    /// What breaks a law.
    pub breaches: Vec<Breach>,
}

/// Something that breaks a law of the shop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// Of what: a key, or what is counted.
    pub of: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.of, self.what)
    }
}

/// Reads the whole table, and checks it. What changed before the horizon must be counted. `progress` hears how many
/// items were read.
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

    let mut ledger = Ledger::new(horizon);
    while let Some(page) = pages.next().await {
        page?.into_iter().for_each(|item| ledger.add(item));
        progress(ledger.items());
    }
    Ok(ledger.close())
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
