//! `cargo local count-categories`: counts the products that an earlier release wrote.

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use local::categories::{Counted, count};

use super::place::Place;
use super::print;

/// Count the products that a release wrote which did not count categories
///
/// Run it once after the upgrade from such a release: until then, `GET /categories` and `GET /products` without a category
/// leave those products out. The shop may be open. The whole table is read once, with strongly consistent reads.
///
/// The table is the running stack's, or a deployed one: `--table`. Region and credentials then come from the
/// environment, as for `audit`.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
}

/// Counts them, and prints how many there were.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let environment = arguments.place.environment(&[]).await?;
    // Drawn to standard error, and only on a terminal.
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} items, {per_sec}")?);
    let found = count(&environment, |items| bar.set_position(items)).await;
    bar.finish_and_clear();
    let Counted { products, counted } = found.context("start the command again: it continues")?;
    print(&format!("{products} products, {counted} newly counted\n"))
}
