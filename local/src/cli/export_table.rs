//! `cargo local export-table`: a table's items as files, for analysis.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use local::archive::{Table, Units, write_files};

use super::place::Place;
use super::{item_bar, print};

/// Write all items to files like those of DynamoDB's own exports, which analytics/run reads
///
/// The table is the running stack's, or a deployed one: `--table`. Region and credentials then come from the
/// environment, as for `audit`. The whole table is read once, with strongly consistent reads, while the shop may be open.
#[derive(Args)]
pub(super) struct Arguments {
    /// The directory. It may have no export yet
    directory: PathBuf,

    #[command(flatten)]
    place: Place,

    /// The most read units per second
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    read_units: u32,

    /// The number of files that are written at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    workers: u8,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let environment = arguments.place.environment(&[]).await?;
    let units = Units { per_second: arguments.read_units, workers: arguments.workers };
    let table = Table::open(&environment, units)?.leading().await?;
    let bar = item_bar()?;
    let written = write_files(&arguments.directory, &table, |items| bar.set_position(items)).await;
    bar.finish_and_clear();
    let written = written?;
    print(&format!("{} items in {} files of {}\n", written.items, written.files, arguments.directory.display()))
}
