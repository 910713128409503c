//! docs/scale.md: prose that somebody wrote, and tables between markers that are written here.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Context, Result};

/// A file of the documentation.
pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs")).join(name)
}

/// The page as it is.
pub(crate) fn read() -> Result<String> {
    fs::read_to_string(file("scale.md")).context("docs/scale.md cannot be read")
}

/// Writes the tables into the page, each between the markers of its name.
pub(crate) fn write(tables: &[(&str, String)]) -> Result<()> {
    // Tests write their parts at the same time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _writing = ONE_AT_A_TIME.lock();
    fs::write(file("scale.md"), with(read()?, tables)?).context("docs/scale.md cannot be written")
}

/// The page with these tables between the markers of their names.
pub(crate) fn with(page: String, tables: &[(&str, String)]) -> Result<String> {
    tables.iter().try_fold(page, |page, (name, table)| {
        let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
        let missing = || format!("docs/scale.md has no place for the table {name}");
        let (before, rest) = page.split_once(&open).with_context(missing)?;
        let (_, after) = rest.split_once(&close).with_context(missing)?;
        Ok(format!("{before}{open}\n\n{table}\n{close}{after}"))
    })
}

/// A table of Markdown.
pub(crate) fn table(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = row(&columns.iter().map(|&column| column.to_owned()).collect::<Vec<_>>());
    let rule = format!("|{}\n", "---|".repeat(columns.len()));
    rows.fold(head + &rule, |table, cells| table + &row(&cells))
}
