//! The work of a run: here or by the functions of the stack, with a progress bar.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use copying::{Copier, Pace as Rate, Repairs};
use futures_util::future::try_join_all;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::{CopyProgress, Side};
use table::Pairs;
use tokio::time::Instant;

use crate::cli::print;

/// The longest that one round of repairs takes.
const ROUND: Duration = Duration::from_mins(1);

/// How fast this command works.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// The most read units per second, in both tables together [default: 2000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    read_units: Option<u32>,

    /// The most write units per second, in both tables together [default: 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    write_units: Option<u32>,
}

impl Pace {
    /// Whether no pace was asked for.
    pub(super) fn is_default(self) -> bool {
        self.read_units.is_none() && self.write_units.is_none()
    }

    /// The share of each of these workers.
    fn of_each(self, workers: usize) -> Rate {
        let workers = u8::try_from(workers.max(1)).unwrap_or(u8::MAX);
        let share = |units: Option<u32>, otherwise: u32| f64::from(units.unwrap_or(otherwise)) / f64::from(workers);
        Rate::new(share(self.read_units, 2000), share(self.write_units, 1000))
    }

    /// The repairs of these tables, at this pace.
    pub(super) fn repairs(self, pairs: &Pairs) -> Repairs {
        Repairs::new(pairs.unshared(), self.of_each(1))
    }
}

/// The bar of a run, drawn to standard error, and only on a terminal.
pub(super) async fn bar(pairs: &Pairs, segments: &[CopyProgress]) -> Result<ProgressBar> {
    // Both tables are scanned. DynamoDB counts the items of a table every six hours, so this is an estimate.
    let leader = segments.first().map_or(Side::First, |segment| segment.leader);
    let items = 2 * pairs.about_items(leader).await.context("cannot describe the table")?;
    let bar = ProgressBar::new(items)
        .with_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} items, {per_sec}, {eta} left")?)
        .with_position(segments.iter().map(|segment| segment.items).sum());
    // The rate is that from now on.
    bar.reset_eta();
    Ok(bar)
}

/// Works off all segments here, at once. A run that is interrupted goes on with the next call.
pub(super) async fn work(pairs: &Pairs, segments: Vec<CopyProgress>, pace: Pace) -> Result<Vec<CopyProgress>> {
    let bar = bar(pairs, &segments).await?;
    let seen = Mutex::new(segments.iter().map(|segment| segment.items).collect::<Vec<_>>());
    let number = segments.len();
    let workers = segments.into_iter().enumerate().map(|(at, segment)| {
        let (bar, seen) = (&bar, &seen);
        let mut worker = Copier::new(pairs.unshared(), pace.of_each(number));
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
pub(super) async fn repair(repairs: &mut Repairs) -> Result<()> {
    let round = repairs.round(Instant::now() + ROUND).await?;
    if round.repairs + round.failed == 0 {
        return Ok(());
    }
    let failed = if round.failed == 0 { String::new() } else { format!(", {} failed: the log says why", round.failed) };
    print(&format!("{} repairs of {} items carried out{failed}\n", round.repairs, round.items))
}
