//! `cargo local fold-counts`: adds parked counts to the counters.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use consumers::count_orders::Folder;
use lambda::FromEnvironment as _;
use table::Budget;

use super::place::Place;
use super::print;

const LONGEST: Duration = Duration::from_mins(10);

/// Add the parked counts to the counters
///
/// `count-orders` does that by itself. Run this after a rollback to a release that does not know parked counts: that
/// release leaves them where they are, and the counters lack them. The shop may be open, and any release may count
/// meanwhile.
///
/// The table is the running stack's, or a deployed one: `--table`. Region and credentials then come from the
/// environment, as for `audit`.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
}

/// Folds them, and fails if some are left.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let folder = Folder::from_environment(&arguments.place.environment(&[]).await?)?;
    let oldest = folder.sweep(Budget::of(LONGEST)).await.context("start the command again: it continues")?;
    ensure!(oldest.is_none(), "counts are still parked: start the command again");
    print("no counts are parked\n")
}
