//! The workers of a run, and its progress bar.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use copying::{Copier, Pace as Rate};
use futures_util::future::try_join_all;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::{CopyProgress, Side};
use table::Pairs;
use tokio::time::Instant;

use crate::cli::print;

/// The longest that one round of repairs takes.
const ROUND: Duration = Duration::from_mins(1);

/// How fast a run works.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The number of segments of the table that are worked on at once, at most 32
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(super) segments: u8,

    /// The most read units per second, in both tables together
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    read_units: u32,

    /// The most write units per second, in both tables together
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    write_units: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { segments: 4, read_units: 2000, write_units: 1000 }
    }
}

impl Pace {
    /// A worker with its share of the pace.
    fn worker(self, pairs: &Pairs, workers: usize) -> Copier {
        let workers = u8::try_from(workers.max(1)).unwrap_or(u8::MAX);
        let share = |units: u32| f64::from(units) / f64::from(workers);
        Copier::new(pairs.unshared(), Rate::new(share(self.read_units), share(self.write_units)))
    }
}

/// Works off all segments at once. A run that is interrupted goes on with the next call.
pub(super) async fn work(pairs: &Pairs, segments: Vec<CopyProgress>, pace: Pace) -> Result<Vec<CopyProgress>> {
    // Both tables are scanned. DynamoDB counts the items of a table every six hours, so this is an estimate.
    let leader = segments.first().map_or(Side::First, |segment| segment.leader);
    let items = 2 * pairs.about_items(leader).await.context("cannot describe the table")?;
    let bar = ProgressBar::new(items)
        .with_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} items, {per_sec}, {eta} left")?);
    let seen = Mutex::new(segments.iter().map(|segment| segment.items).collect::<Vec<_>>());
    let number = segments.len();
    let workers = segments.into_iter().enumerate().map(|(at, segment)| {
        let (bar, seen) = (&bar, &seen);
        let mut worker = pace.worker(pairs, number);
        async move {
            let each = |progress: &CopyProgress| {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen[at] = progress.items;
                bar.set_position(seen.iter().sum());
            };
            worker.work(segment, None, each).await
        }
    });
    let done = try_join_all(workers).await;
    bar.finish_and_clear();
    Ok(done?)
}

/// Carries out the repairs that are due, and prints how many there were.
pub(super) async fn repair(pairs: &Pairs, pace: Pace) -> Result<()> {
    let round = pace.worker(pairs, 1).repair(Instant::now() + ROUND).await?;
    if round.repairs + round.failed == 0 {
        return Ok(());
    }
    let failed = if round.failed == 0 { String::new() } else { format!(", {} failed: the log says why", round.failed) };
    print(&format!("{} repairs of {} items carried out{failed}\n", round.repairs, round.items))
}
