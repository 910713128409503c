//! `cargo local reindex`: builds the search index anew.

use anyhow::{Context, Result, ensure};
use clap::Args;
use local::reindex::{reindex, variables};

use super::place::Place;
use super::{item_bar, print};

/// Build the search index anew from the table, while the shop is open
///
/// Run it once when search is switched on, and again after an upgrade whose notes say so. Customers search the old index
/// until the new one is complete. The whole table is read once, with strongly consistent reads. If the command is
/// interrupted, start it again: it begins anew.
///
/// The table and the index are the running stack's, or deployed ones: `--table` and `--search`. Region and credentials then
/// come from the environment, as for `audit`.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,

    /// The parameter `SearchUrl` of the deployed table's stack
    #[arg(long, value_name = "URL", requires = "table")]
    search: Option<String>,

    /// The parameter `SearchSecretArn` of the deployed table's stack, if it is not empty
    #[arg(long, value_name = "ARN", requires = "search")]
    search_secret: Option<String>,
}

/// Builds the index, and prints how many products it has.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        !arguments.place.is_deployed() || arguments.search.is_some(),
        "--table needs --search, the URL of the index of the table's stack"
    );
    let mut environment = arguments.place.environment(&[]).await?;
    if let Some(url) = &arguments.search {
        environment = environment.with(variables(url, arguments.search_secret.as_deref()));
    }
    let bar = item_bar()?;
    let indexed = reindex(&environment, |items| bar.set_position(items)).await;
    bar.finish_and_clear();
    let indexed = indexed.context("the old index is still the one that is searched")?;
    print(&format!("{indexed} products indexed\n"))
}
