//! The lines of NDJSON and CSV files, as records.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use key_schema::entity::{Product, WholeStock};
use key_schema::value::{Category, Cells, Currency, Money, ProductId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::record::{ProductRecord, Record};

/// A line of a file.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) file: Arc<str>,
    /// From 1.
    pub(super) number: u64,
    /// The record, or the reason why the line is none.
    pub(super) record: Result<Record, String>,
}

/// The lines of some files.
pub(super) type Lines = Box<dyn Iterator<Item = Result<Line>> + Send>;

/// A row of a CSV file of products. The price is in minor units.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProductRow {
    product_id: ProductId,
    name: String,
    #[serde(default)]
    description: String,
    category: Category,
    price: i64,
    currency: Currency,
    #[serde(default)]
    available: u64,
    #[serde(default)]
    cells: Option<Cells>,
}

impl TryFrom<ProductRow> for Record {
    type Error = String;

    fn try_from(row: ProductRow) -> Result<Self, String> {
        let ProductRow { product_id, name, description, category, price, currency, available, cells } = row;
        let too_much = || format!("price: {price} is not an amount in minor units");
        let price = Money::new(price, currency).ok_or_else(too_much)?;
        let stock = WholeStock::shared_out(product_id.clone(), price, available, cells.unwrap_or_default());
        let product = Product::new(product_id, name, category, price);
        Ok(Self::Product(ProductRecord { initial_stock: None, ..ProductRecord::of(product, description, &stock) }))
    }
}

/// The lines of a file. A file whose name ends in `.csv` has customers if it has a column `email`, and products
/// otherwise. Every other file is NDJSON. Empty lines are passed over.
///
/// # Errors
/// The file cannot be read.
pub(super) fn lines(path: &Path) -> Result<Lines> {
    let file: Arc<str> = path.display().to_string().into();
    let reader = BufReader::new(File::open(path).with_context(|| format!("cannot read {file}"))?);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return rows(file, reader);
    }
    let lines =
        (1..).zip(reader.lines()).filter(|(_, line)| line.as_ref().map_or(true, |line| !line.trim().is_empty()));
    Ok(Box::new(lines.map(move |(number, line)| {
        let line = line.with_context(|| format!("cannot read {file}"))?;
        let record = serde_json::from_str(&line).map_err(|error| error.to_string());
        Ok(Line { file: Arc::clone(&file), number, record })
    })))
}

fn rows(file: Arc<str>, reader: BufReader<File>) -> Result<Lines> {
    let mut reader = csv::Reader::from_reader(reader);
    let header = reader.headers().with_context(|| format!("cannot read {file}"))?.clone();
    let has = |column: &str| header.iter().any(|name| name == column);
    if has("email") {
        return Ok(typed(file, reader, header, |row| Ok(Record::Customer(row))));
    }
    if has("price") {
        return Ok(typed(file, reader, header, |row: ProductRow| row.try_into()));
    }
    bail!("{file}: its first line names neither the column email, of customers, nor the column price, of products")
}

fn typed<T: DeserializeOwned>(
    file: Arc<str>,
    reader: csv::Reader<BufReader<File>>,
    header: csv::StringRecord,
    record: impl Fn(T) -> Result<Record, String> + Send + 'static,
) -> Lines {
    let rows = (2..).zip(reader.into_records());
    Box::new(rows.map(move |(at, row)| {
        let number = row.as_ref().ok().and_then(csv::StringRecord::position).map_or(at, csv::Position::line);
        let row = match row {
            Ok(row) => row.deserialize(Some(&header)).map_err(|error| error.to_string()).and_then(&record),
            Err(error) if error.is_io_error() => {
                return Err(error).with_context(|| format!("cannot read {file}"));
            }
            Err(error) => Err(error.to_string()),
        };
        Ok(Line { file: Arc::clone(&file), number, record: row })
    }))
}
