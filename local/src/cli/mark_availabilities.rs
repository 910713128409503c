//! `cargo local mark-availabilities`: lists say anew of each product whether it can be bought.

use anyhow::{Context, Result, ensure};
use clap::Args;
use local::marking::mark_availabilities;

use super::place::Place;
use super::{item_bar, print};

/// Mark the availability of all products anew, while the shop is open
///
/// Run it after a restore, and after a change of `FewLeft`. The whole table is read once. `mark-availability` looks at each
/// product's stock, and writes the marks that differ. If the command is interrupted, start it again.
///
/// The table is the running stack's, or a deployed one: `--table` and `--queue`. Region and credentials then come from the
/// environment, as for `audit`.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,

    /// The URL of the queue `LowStocks` of the deployed table's stack
    #[arg(long, value_name = "URL", requires = "table")]
    queue: Option<String>,

    /// The most products a second
    #[arg(long, value_name = "PRODUCTS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100))]
    per_second: u32,
}

/// Sends all products to the function, and prints how many.
pub(super) async fn run(Arguments { place, queue, per_second }: &Arguments) -> Result<()> {
    ensure!(!place.is_deployed() || queue.is_some(), "--table needs --queue, the URL of the queue LowStocks");
    let queue = match queue {
        Some(queue) => queue.clone(),
        None => place.queue("LowStocks").await?,
    };
    let bar = item_bar()?;
    let environment = place.environment(&[]).await?;
    let sent = mark_availabilities(&environment, &queue, *per_second, |items| bar.set_position(items)).await;
    bar.finish_and_clear();
    let sent = sent.context("start the command again")?;
    print(&format!("{sent} products sent to mark-availability: the marks are written when its queue is empty\n"))
}
