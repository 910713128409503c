//! `cargo local import`: brings a shop's history in.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use lambda::{Failure as _, Remedy};
use local::history::{Outcome, Placement, Summary, count, import};
use serde_json::json;

use super::place::Target;
use super::print;

/// The time between two lines of the log, without a terminal.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Bring a shop's history in: customers, products, codes, gift cards and orders
///
/// docs/history.md describes the files. Each record is checked and then written as a whole, unless it exists. A record
/// that cannot be written is printed with the reason, and the others are written all the same. If the import is
/// interrupted, start it again: it continues.
///
/// The table is the running stack's, or a deployed one: `--table`. Region and credentials then come from the
/// environment, as for `audit`.
#[derive(Args)]
pub(super) struct Arguments {
    /// Files of NDJSON, or of CSV (`.csv`) with customers or products
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Write the refused lines and the totals to this file, in NDJSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    target: Target,
}

/// Imports the files, prints each refused line, and fails if there is one.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let environment = arguments.target.environment().await?;
    let options = arguments.target.options();
    let mut report = arguments.report.as_deref().map(Report::create).transpose()?;
    let mut progress = Progress::begin(count(&arguments.files)?)?;
    let began = Instant::now();
    let summary = import(&environment, &arguments.files, &options, |outcome| {
        progress.step();
        let Placement::Refused(reason) = &outcome.result else { return Ok(()) };
        progress.bar.suspend(|| print(&format!("{}:{}: {reason}\n", outcome.file, outcome.line)))?;
        report.as_mut().map_or(Ok(()), |report| report.refused(outcome, reason))
    });
    let summary = summary.await.map_err(advised);
    progress.bar.finish_and_clear();
    let summary = summary?;
    if let Some(report) = &mut report {
        report.end(&summary)?;
    }
    print_totals(&summary, options.check, began.elapsed())
}

/// The error of an import, with the advice to start it again if that may help.
pub(super) fn advised(error: anyhow::Error) -> anyhow::Error {
    let may_pass = error.downcast_ref::<table::Error>().is_some_and(|error| error.remedy() == Remedy::Retry);
    if may_pass { error.context("start the import again: it continues") } else { error }
}

/// Prints the totals, and fails if a record was refused.
pub(super) fn print_totals(summary: &Summary, is_check: bool, took: Duration) -> Result<()> {
    let Summary { new, same, refused, units } = summary;
    let written = if is_check { "could be written" } else { "written" };
    let indexes: Vec<_> = units.indexes.iter().map(|(index, units)| format!(", {units} of {index}")).collect();
    let indexes = indexes.concat();
    let seconds = took.as_secs_f64();
    print(&format!("{new} {written}, {same} there already, {refused} refused\n"))?;
    print(&format!("{} write units of the table{indexes}, {seconds:.1} s\n", units.table))?;
    ensure!(*refused == 0, "{refused} lines were refused");
    Ok(())
}

/// A progress bar on a terminal, lines of the log otherwise.
struct Progress {
    bar: ProgressBar,
    done: u64,
    began: Instant,
    logged: Instant,
}

impl Progress {
    fn begin(lines: u64) -> Result<Self> {
        let bar = ProgressBar::new(lines);
        let template = "{wide_bar} {pos}/{len} lines, {per_sec}, {eta} left";
        bar.set_style(ProgressStyle::with_template(template)?);
        Ok(Self { bar, done: 0, began: Instant::now(), logged: Instant::now() })
    }

    fn step(&mut self) {
        self.done += 1;
        self.bar.set_position(self.done);
        if self.logged.elapsed() < LOG_EVERY || std::io::stderr().is_terminal() {
            return;
        }
        self.logged = Instant::now();
        let (done, lines) = (self.done, self.bar.length().unwrap_or(self.done));
        let passed = self.began.elapsed().as_secs();
        let left = passed * lines.saturating_sub(done) / done.max(1);
        tracing::info!(done, lines, "{} lines a second, {left} s left", done / passed.max(1));
    }
}

/// The report, which a program can read.
struct Report(BufWriter<File>);

impl Report {
    fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(BufWriter::new(file)))
    }

    fn refused(&mut self, outcome: &Outcome, reason: &str) -> Result<()> {
        let (kind, id) = outcome.record.as_ref().map(|(kind, id)| (*kind, id.as_str())).unzip();
        let line = json!({ "file": &*outcome.file, "line": outcome.line, "type": kind, "id": id, "refused": reason });
        self.write(&line)
    }

    fn end(&mut self, summary: &Summary) -> Result<()> {
        let Summary { new, same, refused, units } = summary;
        let units = json!({ "table": units.table, "indexes": units.indexes });
        self.write(&json!({ "totals": { "new": new, "same": same, "refused": refused, "units": units } }))?;
        self.0.flush().context("the report cannot be written")
    }

    fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        writeln!(self.0, "{line}").context("the report cannot be written")
    }
}
