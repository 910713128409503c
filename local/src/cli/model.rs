//! `cargo local export-model` and `cargo local import-model`: data models of NoSQL Workbench.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use local::history::{Placement, export_model, import_model};

use super::export::{Partial, print_counts};
use super::import::{advised, print_totals};
use super::place::{Place, Shards, Target};
use super::print;

/// Write Till's design as a data model of NoSQL Workbench, with the shop's history as sample data
///
/// docs/workbench.md says how to open it. Facets are the kinds of items and the access patterns. The table is the running
/// stack's, or a deployed one, as for `export`.
#[derive(Args)]
pub(super) struct Export {
    /// The file, in JSON. It is replaced
    file: PathBuf,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    shards: Shards,
}

/// Bring the items of a data model of `export-model` in
///
/// Each item that differs from what follows from the others is printed, and what follows is taken. The records are then
/// imported by the rules of `import`.
#[derive(Args)]
pub(super) struct Import {
    /// The model, in JSON
    file: PathBuf,

    #[command(flatten)]
    target: Target,
}

/// Writes the model under its name only when it is complete.
pub(super) async fn run_export(arguments: &Export) -> Result<()> {
    let environment = arguments.shards.environment(&arguments.place).await?;
    let mut out = Partial::create(&arguments.file)?;
    let (model, exported) = export_model(&environment).await.context("cannot make a model of the table")?;
    out.file.write_all(model.as_bytes()).with_context(|| format!("cannot write {}", arguments.file.display()))?;
    out.finish()?;
    print_counts(&exported)
}

/// Imports the model. Prints what is to be said about its items, and each record that is refused.
pub(super) async fn run_import(arguments: &Import) -> Result<()> {
    let environment = arguments.target.environment().await?;
    let options = arguments.target.options();
    let (began, mut differences) = (Instant::now(), 0_usize);
    let note = |difference| {
        differences += 1;
        print(&format!("{difference}\n"))
    };
    let summary = import_model(&environment, &arguments.file, &options, note, |outcome| match &outcome.result {
        Placement::Refused(reason) => print(&format!("{}:{}: refused: {reason}\n", outcome.file, outcome.line)),
        Placement::New | Placement::Same => Ok(()),
    });
    let summary = summary.await.map_err(advised)?;
    print_totals(&summary, options.check, began.elapsed())?;
    ensure!(
        differences == 0,
        "the model has {differences} values that its other items contradict; those were not taken"
    );
    Ok(())
}
