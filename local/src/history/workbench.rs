//! Data models of NoSQL Workbench: `cargo local export-model` and `cargo local import-model`.
//!
//! An exported model has Till's design, and the shop's history as its sample data. A model that is read may be one of
//! these, or somebody else's. Its items become the records of a file of history, and are imported by the same rules.

mod design;
mod finding;
mod format;
mod own;
mod published;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use key_schema::value::{Currency, Timestamp};
use lambda::{Environment, FromEnvironment as _};
use table::{ProductShards, StatusShards};

use self::format::{Item, Model};
use super::import::{Options, Outcome, Summary, import_lines};
use super::input::Line;
use super::laws::Circumstances;
use super::record::Record;

pub use self::finding::{Finding, Kind};

/// How amounts of somebody else's model are read.
#[derive(Clone, Copy, Debug)]
pub struct Amounts {
    /// Their currency, which such models do not say.
    pub currency: Currency,
    /// The digits after the point of an amount of this currency: 2, so that `10` is ten euros.
    pub decimals: u32,
}

/// An item of a model, with its place.
#[derive(Clone, Debug)]
struct Numbered {
    /// From 1, in its table.
    number: usize,
    table: Arc<str>,
    /// The texts of its key; `-` for what is no text.
    key: Vec<String>,
    /// The attributes of the table's key and of the indexes' keys.
    keys: Arc<KeyNames>,
    item: Item,
}

impl Numbered {
    fn place(&self) -> Place {
        (Arc::clone(&self.table), self.number)
    }
}

/// The names of the attributes of a table's key, and of its indexes' keys.
#[derive(Debug)]
struct KeyNames {
    of_table: Vec<String>,
    of_indexes: Vec<String>,
}

/// What was understood of a model.
#[derive(Debug, Default)]
struct Reading {
    /// Each record with the item that it is named after.
    records: Vec<(Place, Record)>,
    findings: Vec<Finding>,
}

impl Reading {
    fn add(&mut self, part: Self) {
        self.records.extend(part.records);
        self.findings.extend(part.findings);
    }
}

/// The place of an item: its table and its number.
type Place = (Arc<str>, usize);

/// Makes a model of Till's design and of the records of a file of history, which [`export`](super::export) wrote.
///
/// The same records make the same bytes, whichever table they come from.
///
/// # Errors
/// The environment lacks a setting, or a line is not a record that keeps the laws.
pub fn export_model(environment: &Environment, history: &str) -> Result<String> {
    let lines = history.lines().filter(|line| !line.is_empty());
    let records =
        lines.map(serde_json::from_str).collect::<Result<Vec<Record>, _>>().context("not a file of history")?;
    let items = own::items(&records, &circumstances(environment, true)?)?;
    let model = design::model(items, &records)?;
    Ok(serde_json::to_string_pretty(&model)? + "\n")
}

/// Imports the items of a model into the table of this environment, as [`import`](super::import) imports a file.
/// `note` gets what is made up, not used, left out or does not add up, and `tell` the outcome of each record.
///
/// # Errors
/// The file is no model, or the table cannot be read or written. The same import may then be started again.
pub async fn import_model(
    environment: &Environment,
    file: &Path,
    amounts: Amounts,
    options: &Options,
    mut note: impl FnMut(&Finding) -> Result<()>,
    tell: impl FnMut(&Outcome) -> Result<()>,
) -> Result<Summary> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let model: Model = serde_json::from_str(&text).with_context(|| format!("{name} is no model of NoSQL Workbench"))?;
    let reading = read(&model, amounts, &circumstances(environment, true)?)?;
    reading.findings.iter().try_for_each(&mut note)?;
    let lines = reading.records.into_iter().map(|((table, number), record)| Line {
        file: format!("{name}, {table}").into(),
        number: number as u64,
        record: Ok(record),
    });
    let lines: Vec<_> = lines.collect();
    import_lines(environment, options, || Ok(Box::new(lines.clone().into_iter().map(Ok))), tell).await
}

fn read(model: &Model, amounts: Amounts, with: &Circumstances) -> Result<Reading> {
    let mut reading = Reading::default();
    reading.findings.extend(model.unknown().into_iter().map(Finding::of_model));
    // Somebody else's shop may be spread over several tables.
    let mut of_others = Vec::new();
    for table in &model.data_model {
        if table.table_facets.iter().any(|facet| !facet.table_data.is_empty()) {
            let text = format!("the sample data of the facets of {}; that of the table is used", table.table_name);
            reading.findings.push(Finding::of_model(text));
        }
        if design::is_own(table) {
            reading.add(own::read(&table.numbered(), with)?);
        } else {
            of_others.extend(table.numbered());
        }
    }
    reading.add(published::read(of_others, model.created_at().unwrap_or(with.now), amounts));
    if reading.records.is_empty() && reading.findings.iter().all(|finding| finding.kind == Kind::Unused) {
        bail!("the model has no sample data");
    }
    Ok(reading)
}

fn circumstances(environment: &Environment, open: bool) -> Result<Circumstances> {
    Ok(Circumstances {
        now: Timestamp::now(),
        status_shards: StatusShards::from_environment(environment)?,
        product_shards: ProductShards::from_environment(environment)?,
        open,
    })
}
