//! `cargo local migrate verify`: an export of the table that the shop has left.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Result, bail, ensure};
use clap::Args;
use copying::Migrator;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::Phase;
use lambda::Environment;
use local::archive::{Against, Location, Sums, Table, Units, Verdict, verify};

use crate::cli::print;

/// Verify DynamoDB's export of the table that the shop has left
///
/// The export is read and compared with the table. If they are equal, it gets a record, `verified.json`, with which it is
/// compared later, when the table is gone. docs/migrating.md says what to check before somebody deletes the table.
#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "the comments are the texts of --help")]
pub(super) struct Arguments {
    /// The export: s3://BUCKET/PREFIX/AWSDynamoDB/ID
    export: String,

    /// The most read units per second
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    read_units: u32,

    /// The number of segments of the table that are read at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    workers: u8,
}

pub(super) async fn run(arguments: &Arguments, environment: &Environment, migrator: &Migrator) -> Result<()> {
    let units = Units { per_second: arguments.read_units, workers: arguments.workers };
    let table = Table::open(environment, units)?;
    let location = Location::parse(environment, &arguments.export)?;
    let since = left_since(&table, migrator).await?;
    let against = if since.is_some() { Against::Table } else { Against::Record };
    check(&location, &table, against).await?;
    // A step back during the work would have let the shop write the table again.
    let is_still_left = since.is_none() || left_since(&table, migrator).await? == since;
    ensure!(is_still_left, "the migration has gone on meanwhile: export and verify again in the phase next");
    Ok(())
}

/// The time since which no function writes the table. `None` if the shop uses it, or if it is gone.
async fn left_since(table: &Table, migrator: &Migrator) -> Result<Option<String>> {
    if !table.exists().await? {
        return Ok(None);
    }
    let state = migrator.state().await?;
    let Some(migration) = state.migration.as_ref().filter(|migration| migration.phase == Phase::Next) else {
        print(&format!("{} is in use, so the export is not compared with it\n", table.name()))?;
        return Ok(None);
    };
    if let Some(left) = migrator.unsettled(&state) {
        let seconds = left.as_millis().div_ceil(1000);
        bail!("functions may still work by the phase before: try again in {seconds} s");
    }
    Ok(Some(migration.since.to_string()))
}

/// Verifies an export, and prints the result.
async fn check(location: &Location, table: &Table, against: Against) -> Result<()> {
    let bar = bar()?;
    let verdict = verify(location, table, against, |items, of| {
        bar.set_length(of.max(items));
        bar.set_position(items);
    });
    let verdict = verdict.await;
    bar.finish_and_clear();
    let verdict = verdict?;
    print(&report(&verdict))?;
    ensure!(verdict.findings.is_empty(), "the export is not what it should be: do not delete the table");
    print(&match (&verdict.of_table, &verdict.verified_before) {
        (Some(_), _) => format!("verified: {location}/verified.json says so\n"),
        (None, Some(before)) => format!("the export is as it was verified at {before}\n"),
        (None, None) => bail!("the export is as its manifest says, but it was never compared with its table"),
    })
}

/// One line for each kind of item, as a comparison has it, and the findings.
fn report(verdict: &Verdict) -> String {
    let Verdict { items, files, expiring, .. } = verdict;
    let mut text = format!("{items} items in {files} files, of which {expiring} expire and do not count\n");
    let none = Sums::new();
    let of_table = verdict.of_table.as_ref().unwrap_or(&none);
    let kinds: BTreeSet<_> = verdict.archived.keys().chain(of_table.keys()).collect();
    for kind in kinds {
        let of = |sums: &Sums| sums.get(kind).copied().unwrap_or_default();
        let archived = of(&verdict.archived);
        _ = write!(text, "  {kind:20} {:>10} {:032x}", archived.items, archived.sum);
        if verdict.of_table.is_some() {
            let table = of(of_table);
            let word = if table == archived { "equal" } else { "different" };
            _ = write!(text, "  {:>10} {:032x}  {word}", table.items, table.sum);
        }
        text.push('\n');
    }
    for finding in &verdict.findings {
        _ = writeln!(text, "  {finding}");
    }
    text
}

/// Drawn to standard error, and only on a terminal.
fn bar() -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} items, {per_sec}, {eta} left")?;
    Ok(ProgressBar::new(0).with_style(style))
}
