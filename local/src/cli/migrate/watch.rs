//! A run by the functions of the stack: sends them the segments, and shows how far they are.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use copying::{Assignment, Migrator};
use key_schema::entity::CopyProgress;
use key_schema::value::Timestamp;
use lambda::{Failure as _, Remedy};
use queue::{Message, Queue};
use table::Pairs;
use tokio::time::Instant;

use super::run::bar;
use crate::cli::print;

const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// The time after which a segment without progress is sent again: more than the queue hides a message whose function
/// crashed, so that it is sent again only if its message is lost.
const PATIENCE_SECONDS: u64 = 15 * 60;

/// How to watch the functions.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Patience {
    /// The time without progress after which a segment is sent again, in seconds. Less than the default is for tests only
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE_SECONDS, hide = true)]
    patience: u64,
}

/// What the functions have been told about a segment, and what they have done since.
#[derive(Clone, Copy, Debug)]
struct Watched {
    pages: u64,
    is_sent: bool,
    /// The last time at which the segment made progress or was sent.
    at: Instant,
}

impl Watched {
    /// A segment as this command finds it.
    fn new(segment: &CopyProgress) -> Self {
        let idle = Timestamp::now().as_second().saturating_sub(segment.updated_at.as_second());
        let idle = Duration::from_secs(u64::try_from(idle).unwrap_or(0));
        let now = Instant::now();
        // A segment that was never worked on may never have been sent.
        Self { pages: segment.pages, is_sent: segment.pages > 0, at: now.checked_sub(idle).unwrap_or(now) }
    }
}

/// Sends the segments of a run to the functions, and waits until they are done. A segment is sent again if it makes no
/// progress. Whoever stops this command leaves the functions at work.
///
/// # Errors
/// The queue does not take a segment, or another run has started. The same command again sends what was not sent.
pub(super) async fn until_done(
    migrator: &Migrator,
    pairs: &Pairs,
    queue: &Queue,
    mut segments: Vec<CopyProgress>,
    Patience { patience }: Patience,
) -> Result<Vec<CopyProgress>> {
    let number = segments.first().map_or(0, |segment| segment.run);
    let bar = bar(pairs, &segments).await?;
    let (mut watched, mut is_told) = (BTreeMap::<u8, Watched>::new(), false);
    loop {
        for segment in segments.iter().filter(|segment| !segment.is_done) {
            let seen = watched.entry(segment.segment).or_insert_with(|| Watched::new(segment));
            if seen.pages != segment.pages {
                (seen.pages, seen.at) = (segment.pages, Instant::now());
            }
            if !seen.is_sent || seen.at.elapsed() >= Duration::from_secs(patience) {
                let body = Assignment::of(segment).message();
                let sent = queue.send(&Message { body, attributes: BTreeMap::new(), group: None }).await;
                sent.context("cannot tell the functions what to do: run the same command again")?;
                (seen.is_sent, seen.at) = (true, Instant::now());
            }
        }
        if !std::mem::replace(&mut is_told, true) {
            print(
                "The stack's functions do the work. Ctrl-C leaves them at work; the same command shows them again.\n",
            )?;
        }
        bar.set_position(segments.iter().map(|segment| segment.items).sum());
        if segments.iter().all(|segment| segment.is_done) {
            bar.finish_and_clear();
            return Ok(segments);
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
        segments = match migrator.segments().await {
            Ok(found) => found,
            // This machine may have slept, or be offline. The functions are not.
            Err(error) if error.remedy() == Remedy::Retry => segments,
            Err(error) => return Err(error.into()),
        };
        ensure!(
            segments.iter().all(|segment| segment.run == number) && !segments.is_empty(),
            "another run has started: migrate status shows it"
        );
    }
}
