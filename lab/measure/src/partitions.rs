//! `cargo measure partitions`: computes at how many orders a second each key design fails, by DynamoDB's limits of a
//! partition.
//!
//! The simulation does no input or output: the same seed gives the same result on any machine. Orders consist of real
//! entities with keys from the key schema. A hash of the partition key assigns items to partitions, and partitions are
//! split for heat, as AWS documents it:
//!
//! - 1,000 write units and 3,000 read units a second for each partition of the table and of each index:
//!   <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>
//! - A partition that stays hot is split where that spreads the heat. A single item cannot be split, and splitting does
//!   not help an item collection that is written at its end:
//!   <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html>,
//!   <https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/>
//! - An index at its limit also throttles writes to the table:
//!   <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html>
//! - Burst capacity does not raise a partition's limit:
//!   <https://repost.aws/knowledge-center/dynamodb-spiky-workloads-short-intervals>
//!
//! docs/scale.md lists what is not modelled.

mod conflict;
mod demand;
mod design;
mod fleet;
mod limits;
mod plot;
mod report;
mod simulate;
#[cfg(test)]
mod tests;
mod touch;
mod traffic;
mod units;

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::plot::picture;
use self::report::Report;
use crate::{show, workspace};

/// The seed of the page.
const SEED: u64 = 7;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The seed of everything random; the same seed gives the same result
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Writes the tables into docs/scale.md, and draws docs/partitions.svg
    #[arg(long)]
    docs: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}")?;
    let progress = ProgressBar::no_length().with_style(style);
    let report = Report::new(arguments.seed, patience()?, &progress)?;
    progress.finish_and_clear();
    show(&report.tables(), arguments.docs)?;
    if arguments.docs {
        fs::write(docs_check::file("partitions.svg"), picture(&report)?)
            .context("docs/partitions.svg cannot be written")?;
    }
    Ok(())
}

/// The time for which an order with conflicts is retried.
fn patience() -> Result<Duration> {
    Ok(workspace::timeout("place-order")?.saturating_sub(lambda::ANSWERING))
}
