//! `cargo local audit`: checks that a table keeps the shop's invariants.

use anyhow::{Context, Result, ensure};
use clap::Args;
use key_schema::layout::Layout;
use key_schema::value::Timestamp;
use lambda::Environment;
use local::audit::{Report, SETTLE_SECONDS, audit};

use super::{item_bar, print};

/// Check that a table keeps the shop's invariants, on this machine or on AWS
///
/// Use it on a restored table, for example. Amounts and payments of each order agree; gift cards and discount codes
/// agree with the orders that used them; each claim belongs to a profile; counts agree with the orders; and each item
/// has the keys that its content implies. It reads the whole table once, with strongly consistent reads, and writes
/// nothing.
///
/// Region and credentials come from the environment: `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
/// `AWS_SESSION_TOKEN`, as `aws configure export-credentials --format env` prints them.
#[derive(Args)]
pub(super) struct Arguments {
    /// The table's name
    #[arg(long)]
    table: String,

    /// The layout of its keys: v1 or v2
    #[arg(long, value_name = "LAYOUT", default_value = "v1")]
    layout: Layout,

    /// The shop's parameter `TimeZone`, whose days are counted
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    time_zone: String,

    /// Changes before this time must be counted [default: six and a half hours ago]
    #[arg(long, value_name = "TIME")]
    counted_until: Option<Timestamp>,
}

/// Reads the table, checks it, and prints each breach.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let horizon = arguments.counted_until.unwrap_or_else(|| Timestamp::now().minus_seconds(SETTLE_SECONDS));
    let variables = [
        ("TABLE_NAME", arguments.table.clone()),
        ("TABLE_LAYOUT", arguments.layout.to_string()),
        ("TIME_ZONE", arguments.time_zone.clone()),
    ];
    let environment = Environment::of_process().with(variables.map(|(name, value)| (name.to_owned(), value)));
    let bar = item_bar()?;
    let report = audit(&environment, horizon, |items| bar.set_position(items)).await;
    bar.finish_and_clear();

    let Report { items, orders, unsettled, breaches } = report.context("cannot audit the table")?;
    breaches.iter().try_for_each(|breach| print(&format!("{breach}\n")))?;
    let found = breaches.len();
    print(&format!("{items} items, {orders} orders, {unsettled} counts not settled yet, {found} breaches\n"))?;
    ensure!(found == 0, "the table breaks the shop's invariants");
    Ok(())
}
