//! `cargo local migrate archive`: the archive of the table that the shop has left.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use copying::Mover;
use flate2::Crc;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::Phase;
use key_schema::value::Timestamp;
use lambda::Environment;
use local::archive::{Against, Location, Sums, Table, Units, Verdict, verify, write};

use crate::cli::print;

/// The variable with the name of the stack's own bucket for archives.
const BUCKET: &str = "ARCHIVE_BUCKET";

/// Write the table that the shop has left to S3, and verify what was written
///
/// The archive has the format of DynamoDB's own export, so that DynamoDB can import it again. It is then read back and
/// compared with the table, and gets a record, `verified.json`. If the command is interrupted, the same command goes on.
/// Nothing is deleted: docs/migrating.md says what to check before somebody deletes the table.
#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "the comments are the texts of --help")]
pub(super) struct Arguments {
    /// The bucket: the output ArchiveBucketName of a deployed stack, or another one [default: the running stack's]
    #[arg(long, value_name = "NAME")]
    bucket: Option<String>,

    /// The beginning of the names of all objects
    #[arg(long, default_value = "", hide_default_value = true)]
    prefix: String,

    /// Verify this archive again, instead of writing one: s3://BUCKET/PREFIX/AWSDynamoDB/ID. It may be an export that
    /// DynamoDB has made
    #[arg(long, value_name = "URL", conflicts_with_all = ["bucket", "prefix", "files"])]
    verify: Option<String>,

    /// The number of data files [default: one for every 16 MB]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    files: Option<u32>,

    /// The most read units per second
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    read_units: u32,

    /// The number of files that are worked on at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    workers: u8,
}

/// Whether the table may be archived.
enum Use {
    /// The shop has left the table: since that time.
    Left(String),
    /// The shop uses the table, or may use it again: the reason.
    Needed(String),
    /// There is no such table any more.
    Gone,
}

pub(super) async fn run(arguments: &Arguments, environment: &Environment, mover: &Mover) -> Result<()> {
    let units = Units { per_second: arguments.read_units, workers: arguments.workers };
    let table = Table::open(environment, units)?;
    let using = look(&table, mover).await?;
    if let Some(url) = &arguments.verify {
        let location = Location::parse(environment, url)?;
        let against = match &using {
            Use::Left(_) => Against::Table,
            Use::Needed(_) => {
                print(&format!("{} is in use, so the archive is not compared with it\n", table.name()))?;
                Against::Record
            }
            Use::Gone => Against::Record,
        };
        return check(&location, &table, against).await;
    }
    let since = match using {
        Use::Left(since) => since,
        Use::Needed(why) => bail!("{} cannot be archived yet: {why}", table.name()),
        Use::Gone => bail!("there is no table {}", table.name()),
    };
    let bucket = arguments.bucket.as_deref().or(environment.optional(BUCKET));
    let bucket = bucket.context("name the bucket with --bucket: it is the output ArchiveBucketName of the stack")?;
    let location = Location::new(environment, bucket, &arguments.prefix, &id(table.name(), &since))?;
    print(&format!("{location}\n"))?;
    let bar = bar()?;
    let written = write(&location, &table, arguments.files, |items, of| {
        bar.set_length(of.max(items));
        bar.set_position(items);
    });
    let written = written.await;
    bar.finish_and_clear();
    let written = written?;
    print(&format!("{} items, {} files written, {} found\n", written.items, written.files, written.found))?;
    check(&location, &table, Against::Table).await?;
    // A step back during the work would have let the shop write the table again.
    match look(&table, mover).await? {
        Use::Left(again) if again == since => Ok(()),
        _ => bail!("the move has gone on meanwhile: this archive is worth nothing. Archive again in the phase next"),
    }
}

/// Whether the shop has left a table, and no function works by an older phase any more.
async fn look(table: &Table, mover: &Mover) -> Result<Use> {
    if !table.exists().await? {
        return Ok(Use::Gone);
    }
    let state = mover.state().await?;
    let Some(moving) = state.moving.as_ref().filter(|moving| moving.phase == Phase::Next) else {
        return Ok(Use::Needed(format!(
            "the move is in the phase {}, and the shop still writes it. Go on with migrate advance to the phase next, \
             and stay there for as long as you may want to go back",
            state.phase()
        )));
    };
    if let Some(left) = mover.unsettled(&state) {
        let seconds = left.as_millis().div_ceil(1000);
        return Ok(Use::Needed(format!("functions may still work by the phase before: try again in {seconds} s")));
    }
    Ok(Use::Left(moving.since.to_string()))
}

/// The id of an archive, in the form of DynamoDB's ids: the time since which the shop has left the table, and a checksum of
/// its name. The same command finds the archive that an interrupted one began.
fn id(table: &str, since: &str) -> String {
    let millisecond = since.parse().map_or(0, Timestamp::as_millisecond);
    let mut name = Crc::new();
    name.update(table.as_bytes());
    format!("{millisecond:014}-{:08x}", name.sum())
}

/// Verifies an archive, and prints the result.
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
    ensure!(verdict.findings.is_empty(), "the archive is not what it should be: do not delete the table");
    print(&match (&verdict.of_table, &verdict.verified_before) {
        (Some(_), _) => format!("verified: {location}/verified.json says so\n"),
        (None, Some(before)) => format!("the archive is as it was verified at {before}\n"),
        (None, None) => bail!("the archive is as its manifest says, but it was never compared with its table"),
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
