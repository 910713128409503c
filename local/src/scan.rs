//! A walk over a whole table, strongly consistent. The audit and the export need it, because only a scan finds items that
//! no access pattern reaches. No function's role allows a scan.

use anyhow::{Context, Result};
use futures_util::{Stream, stream};
use lambda::{Environment, FromEnvironment as _};
use table::{Item, Segment, WholeTable};

/// The number of segments read in parallel. Within a segment, the items of a partition come one after the other.
const SEGMENTS: u8 = 4;

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
        let (table, segment) = (table.clone(), Segment { number: number.into(), of: SEGMENTS.into() });
        Box::pin(stream::unfold(Some((table, None)), move |next| async move {
            let (table, after) = next?;
            match table.page(segment, after.as_ref()).await.context("the table cannot be read") {
                Ok((items, last)) => Some((Ok((number, items)), last.map(|last| (table, Some(last))))),
                Err(error) => Some((Err(error), None)),
            }
        }))
    });
    Ok(stream::select_all(segments.collect::<Vec<_>>()))
}
