//! `cargo local export`: writes a shop's history to a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use local::history::export;

use super::place::Place;
use super::print;

/// Write the shop's customers, products, codes, gift cards and orders to a file, which `import` reads
///
/// The table is the running stack's, or a deployed one: `--table`. Region and credentials then come from the
/// environment, as for `audit`. The whole table is read once, with strongly consistent reads.
#[derive(Args)]
pub(super) struct Arguments {
    /// The file, in NDJSON: one record on each line. It is replaced
    file: PathBuf,

    #[command(flatten)]
    place: Place,
}

/// Walks the table, and writes the file under its name only when it is complete.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let environment = arguments.place.environment(&[]).await?;
    let file = &arguments.file;
    let mut part = file.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let name = part.display();
    let mut out = BufWriter::new(File::create(&part).with_context(|| format!("cannot write {name}"))?);

    // Drawn to standard error, and only on a terminal.
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} items, {per_sec}")?);
    let exported = export(&environment, &mut out, |items| bar.set_position(items)).await;
    bar.finish_and_clear();
    let exported = exported.context("cannot export the table")?;
    drop(out);
    std::fs::rename(&part, file).with_context(|| format!("cannot write {}", file.display()))?;
    let counts: Vec<_> = exported.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    print(&format!("{}\n", counts.join(", ")))
}
