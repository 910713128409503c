//! `cargo local export-model` and `cargo local import-model`: data models of NoSQL Workbench.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use key_schema::value::Currency;
use local::history::{Amounts, FindingKind, Placement, export, export_model, import_model};

use super::export::Partial;
use super::import::print_totals;
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

/// Bring the items of a data model of NoSQL Workbench in, as far as they go
///
/// The model is one of `export-model`, or somebody else's model of a shop. What has to be made up, what does not add up
/// and what is left out is printed for each item. The records are then imported by the rules of `import`.
#[derive(Args)]
pub(super) struct Import {
    /// The model, in JSON
    file: PathBuf,

    /// Only check the model against the table, and write nothing
    #[arg(long)]
    check: bool,

    /// Also import orders that are not history: unpaid ones, which expire, and payments that are not finished
    #[arg(long)]
    open: bool,

    /// The currency of somebody else's model, which does not say it
    #[arg(long, default_value = "EUR", value_parser = currency)]
    currency: Currency,

    /// The decimals of an amount in this currency
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=4))]
    decimals: u32,

    #[command(flatten)]
    target: Target,
}

fn currency(text: &str) -> Result<Currency, String> {
    Currency::try_from(text.to_owned()).map_err(|invalid| invalid.to_string())
}

/// Writes the model under its name only when it is complete.
pub(super) async fn run_export(arguments: &Export) -> Result<()> {
    let environment = arguments.shards.environment(&arguments.place).await?;
    let mut out = Partial::create(&arguments.file)?;
    let mut history = Vec::new();
    let exported = export(&environment, &mut history, |_| ()).await.context("cannot export the table")?;
    let model = export_model(&environment, &String::from_utf8(history)?).context("cannot make a model of the table")?;
    out.file.write_all(model.as_bytes()).with_context(|| format!("cannot write {}", arguments.file.display()))?;
    out.finish()?;
    let counts: Vec<_> = exported.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    print(&format!("{}\n", counts.join(", ")))
}

/// Imports the model. Prints what is to be said about its items, and each record that is refused.
pub(super) async fn run_import(arguments: &Import) -> Result<()> {
    let environment = arguments.target.environment().await?;
    let options = arguments.target.options(arguments.check, arguments.open);
    let amounts = Amounts { currency: arguments.currency, decimals: arguments.decimals };
    let (began, mut left_out) = (Instant::now(), 0_usize);
    let summary = import_model(
        &environment,
        &arguments.file,
        amounts,
        &options,
        |finding| {
            left_out += usize::from(finding.kind == FindingKind::LeftOut);
            print(&format!("{finding}\n"))
        },
        |outcome| match &outcome.result {
            Placement::Refused(reason) => {
                print(&format!("{}, item {}: refused: {reason}\n", outcome.file, outcome.line))
            }
            Placement::New | Placement::Same => Ok(()),
        },
    );
    let summary = summary.await.context("start the import again: it continues")?;
    print_totals(&summary, arguments.check, began.elapsed())?;
    ensure!(left_out == 0, "{left_out} items were left out");
    Ok(())
}
