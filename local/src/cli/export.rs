//! `cargo local export`: writes a shop's history to a file.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use local::history::{Exported, export};

use super::place::Place;
use super::{item_bar, print};

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
    let mut out = Partial::create(&arguments.file)?;
    let bar = item_bar()?;
    let exported = export(&environment, &mut out.file, |items| bar.set_position(items)).await;
    bar.finish_and_clear();
    let exported = exported.context("cannot export the table")?;
    out.finish()?;
    print_counts(&exported)
}

/// Prints the number of records of each kind.
pub(super) fn print_counts(exported: &Exported) -> Result<()> {
    let counts: Vec<_> = exported.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    print(&format!("{}\n", counts.join(", ")))
}

/// A file that gets its name when it is complete.
pub(super) struct Partial<'a> {
    name: &'a Path,
    part: PathBuf,
    pub(super) file: BufWriter<File>,
}

impl<'a> Partial<'a> {
    pub(super) fn create(name: &'a Path) -> Result<Self> {
        let mut part = name.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).with_context(|| format!("cannot write {}", part.display()))?;
        Ok(Self { name, part, file: BufWriter::new(file) })
    }

    pub(super) fn finish(self) -> Result<()> {
        let Self { name, part, mut file } = self;
        let failed = || format!("cannot write {}", name.display());
        file.flush().with_context(failed)?;
        drop(file);
        std::fs::rename(part, name).with_context(failed)
    }
}
