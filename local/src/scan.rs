//! A walk over a whole table, strongly consistent. The audit and the export need it, because only a scan finds items that
//! no access pattern reaches. No function's role allows a scan.

use anyhow::{Context, Result};
use aws_sdk_dynamodb::Client;
use futures_util::{Stream, stream};
use lambda::{Environment, Service};
use table::Item;

/// The number of segments read in parallel. Within a segment, the items of a partition come one after the other.
const SEGMENTS: i32 = 4;

/// The pages of all segments, each with the number of its segment. A page is read when it is asked for.
///
/// # Errors
/// The environment has no region or no credentials. A page fails if the table cannot be read.
pub(crate) fn pages(environment: &Environment, table: &str) -> Result<impl Stream<Item = Result<(i32, Vec<Item>)>>> {
    let client = environment.client(Service::DynamoDb, Client::new)?;
    let segments = (0..SEGMENTS).map(move |segment| {
        let scan = client.scan().table_name(table).consistent_read(true).segment(segment).total_segments(SEGMENTS);
        Box::pin(stream::unfold(Some((scan, None)), move |next| async move {
            let (scan, start) = next?;
            let page = scan.clone().set_exclusive_start_key(start).send().await;
            match page.context("the table cannot be read") {
                Ok(page) => {
                    let next = page.last_evaluated_key.map(|key| (scan, Some(key)));
                    Some((Ok((segment, page.items.unwrap_or_default())), next))
                }
                Err(error) => Some((Err(error), None)),
            }
        }))
    });
    Ok(stream::select_all(segments.collect::<Vec<_>>()))
}
