//! The format of an export: manifests, and data files with an item on each line
//! ([source](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html)).

use std::io::{Read as _, Write as _};

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};
use table::Item;

pub(super) const SUMMARY: &str = "manifest-summary.json";
pub(super) const SUMMARY_MD5: &str = "manifest-summary.md5";
pub(super) const FILES: &str = "manifest-files.json";
pub(super) const FILES_MD5: &str = "manifest-files.md5";
pub(super) const JSON: &str = "application/json";

/// The only format of items.
const DYNAMODB_JSON: &str = "DYNAMODB_JSON";
/// The only type of exports.
const FULL: &str = "FULL_EXPORT";

/// `manifest-summary.json`, as far as it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary {
    pub(super) item_count: u64,
    output_format: String,
    /// Early exports have none.
    export_type: Option<String>,
}

impl Summary {
    /// Checks that the export has whole items of a whole table.
    pub(super) fn ensure_readable(&self) -> Result<()> {
        ensure!(self.output_format == DYNAMODB_JSON, "the export is in {}, not in {DYNAMODB_JSON}", self.output_format);
        let kind = self.export_type.as_deref().unwrap_or(FULL);
        ensure!(kind == FULL, "the export is of the type {kind}: it does not have all items");
        Ok(())
    }
}

/// A line of `manifest-files.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) item_count: u64,
    /// The MD5 of the file as it is stored, in base 64.
    pub(super) md5_checksum: String,
    pub(super) data_file_s3_key: String,
}

/// A line of a data file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line<T> {
    item: T,
}

/// The MD5 of some bytes, in base 64.
pub(super) fn md5_of(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(Md5::digest(bytes))
}

/// Adds a line for each item. Equal items in the same order make equal lines.
pub(super) fn write_lines(lines: &mut Vec<u8>, items: Vec<Item>) -> Result<()> {
    for item in items {
        // Sorted by name: a map of an item has no order.
        let item = serde_json::to_value(serde_dynamo::Item::from(item)).context("an item has no JSON")?;
        serde_json::to_writer(&mut *lines, &Line { item })?;
        lines.push(b'\n');
    }
    Ok(())
}

/// A data file of these lines.
pub(super) fn pack(lines: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(lines)?;
    packed.finish().context("a file cannot be compressed")
}

/// The items of a data file. `each` returns the number of the line with its error.
pub(super) fn unpack(packed: &[u8], mut each: impl FnMut(Item)) -> Result<u64> {
    let mut text = String::new();
    // An empty file of an export is not compressed at all.
    if !packed.is_empty() {
        MultiGzDecoder::new(packed).read_to_string(&mut text).context("it is not compressed text")?;
    }
    let mut items = 0;
    for (at, line) in text.lines().enumerate() {
        let line: Line<serde_dynamo::Item> =
            serde_json::from_str(line).with_context(|| format!("line {} is no item", at + 1))?;
        each(line.item.into());
        items += 1;
    }
    Ok(items)
}

/// The lines of `manifest-files.json`.
pub(super) fn entries(text: &[u8]) -> Result<Vec<Entry>> {
    let lines = std::str::from_utf8(text).context("the list of files is no text")?.lines();
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).context("the list of files cannot be read")).collect()
}
