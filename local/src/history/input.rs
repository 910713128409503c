//! The lines of NDJSON and CSV files, as records.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::record::Record;

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
    let lines = (1..).zip(reader.split(b'\n')).map(move |(number, line)| {
        let line = line.with_context(|| format!("cannot read {file}"))?;
        // Some editors begin a file with a byte order mark.
        let line = line.strip_prefix("\u{feff}".as_bytes()).filter(|_| number == 1).unwrap_or(&line).trim_ascii();
        Ok((!line.is_empty()).then(|| Line { file: Arc::clone(&file), number, record: Record::read(line) }))
    });
    Ok(Box::new(lines.filter_map(Result::transpose)))
}

/// The rows of a CSV file, each as a line of NDJSON has them.
fn rows(file: Arc<str>, reader: BufReader<File>) -> Result<Lines> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(reader);
    let header = reader.headers().with_context(|| format!("cannot read {file}"))?.clone();
    let has = |column: &str| header.iter().any(|name| name == column);
    let kind = match (has("email"), has("price")) {
        (true, _) => "customer",
        (_, true) => "product",
        _ if header.iter().any(|name| name.contains(';')) => {
            bail!("{file}: its columns are separated by semicolons, and must be by commas")
        }
        _ => bail!(
            "{file}: its first line names neither the column email, of customers, nor the column price, of products"
        ),
    };
    let rows = (2..).zip(reader.into_records());
    Ok(Box::new(rows.map(move |(at, row)| {
        let number = row.as_ref().ok().and_then(csv::StringRecord::position).map_or(at, csv::Position::line);
        let record = match row {
            Ok(row) => record(kind, &header, &row),
            Err(error) if error.is_io_error() => {
                return Err(error).with_context(|| format!("cannot read {file}"));
            }
            Err(error) => Err(error.to_string()),
        };
        Ok(Line { file: Arc::clone(&file), number, record })
    })))
}

/// The record of a row. An empty cell is a member that is absent.
fn record(kind: &str, header: &csv::StringRecord, row: &csv::StringRecord) -> Result<Record, String> {
    let mut record = Map::from_iter([("type".to_owned(), json!(kind))]);
    let mut price = Map::new();
    for (name, cell) in header.iter().zip(row).filter(|(_, cell)| !cell.trim().is_empty()) {
        match name {
            "price" => _ = price.insert("amount".to_owned(), minor_units(cell)?.into()),
            "currency" => _ = price.insert(name.to_owned(), json!(cell.trim())),
            "available" | "cells" => {
                let number = cell.trim().parse::<u64>().map_err(|_| format!("{name}: must be a whole number"))?;
                record.insert(name.to_owned(), number.into());
            }
            _ => _ = record.insert(name.to_owned(), json!(cell.replace("\r\n", "\n"))),
        }
    }
    if !price.is_empty() {
        record.insert("price".to_owned(), price.into());
    }
    Record::read(Value::Object(record).to_string().as_bytes())
}

fn minor_units(cell: &str) -> Result<i64, String> {
    let why = if cell.contains(['.', ',']) { " (1250, and not 12.50)" } else { "" };
    cell.trim().parse().map_err(|_| format!("price: must be a whole number of minor units{why}"))
}
