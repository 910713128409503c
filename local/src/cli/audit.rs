//! `cargo local audit`: whether a table keeps the shop's laws.

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::value::Timestamp;
use lambda::Environment;
use local::audit::{Report, SETTLE_SECONDS, audit};

use super::print;

/// Check that a table keeps the shop's laws, wherever it is
///
/// For a table that was restored, say. Orders add up and are paid as they say, gift cards and discount codes are used
/// as often as orders used them, claims belong to profiles, counts are those of the orders, and everything lies where
/// it should. The whole table is read once, strongly, and nothing is written.
///
/// Region and credentials come from the environment: `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
/// `AWS_SESSION_TOKEN`, as `aws configure export-credentials --format env` prints them.
#[derive(Args)]
pub(super) struct Arguments {
    /// The table's name
    #[arg(long)]
    table: String,

    /// What changed before this moment must be counted [default: six and a half hours ago]
    #[arg(long, value_name = "TIME")]
    counted_until: Option<Timestamp>,
}

/// Reads, checks, and prints what breaks a law.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let horizon = arguments.counted_until.unwrap_or_else(|| Timestamp::now().minus_seconds(SETTLE_SECONDS));
    // On a terminal only; it draws to standard error.
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} items, {per_sec}")?);
    let report = audit(&Environment::of_process(), &arguments.table, horizon, |items| bar.set_position(items)).await;
    bar.finish_and_clear();

    let Report { items, orders, unsettled, breaches } = report.context("cannot audit the table")?;
    breaches.iter().try_for_each(|breach| print(&format!("{breach}\n")))?;
    let found = breaches.len();
    print(&format!("{items} items, {orders} orders, {unsettled} counts not settled yet, {found} breaches\n"))?;
    ensure!(found == 0, "the table breaks the shop's laws");
    Ok(())
}
