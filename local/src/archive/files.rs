//! A full export of a table as files of a directory, for analysis. The shop may be open.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flate2::Crc;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use key_schema::value::Timestamp;
use table::{Description, Segment};

use super::format::{Entry, FILES, FILES_MD5, SUMMARY, SUMMARY_MD5, Summary, format_name, full, list, md5_of, pack};
use super::location::FOLDER;
use super::write::{file_name, files_for};
use super::{Table, Written};

/// Writes a full export below a directory, which has the folders of DynamoDB's own: `AWSDynamoDB/ID/data`. It appears there
/// as a whole when it is complete. Each item is as it was when it was read: unlike DynamoDB, this reads the table's items
/// one after the other. `progress` receives the number of items so far, and an estimate of all.
///
/// # Errors
/// The directory has an export already, the table cannot be read, or a file cannot be written.
pub async fn write_files(directory: &Path, table: &Table, progress: impl Fn(u64, u64)) -> Result<Written> {
    let root = directory.join(FOLDER);
    ensure!(!root.exists(), "{} has an export already: choose another directory", directory.display());
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let part = directory.join(format!("{FOLDER}.part"));
    // Fails if the folder is there: another run may be writing it.
    fs::create_dir(&part)
        .with_context(|| format!("cannot make {}: delete it if an earlier run was interrupted", part.display()))?;
    let export = Export { described: table.describe().await?, started: Timestamp::now() };
    let folder = part.join(export.id(table.name()));
    fs::create_dir_all(folder.join("data"))?;
    let number = files_for(export.described.bytes);
    let entries = stream::iter(0..number).map(|segment| {
        let (table, folder, export) = (table, &folder, &export);
        async move {
            let part = Segment { number: segment, of: number };
            let mut items = Vec::new();
            table.segment(part, &mut table.pace(), |page| items.extend(page)).await?;
            let item_count = items.len() as u64;
            let packed =
                tokio::task::spawn_blocking(move || pack(items)).await.context("a file cannot be packed")??;
            let name = format!("data/{}", file_name(segment, number));
            write(folder, &name, &packed)?;
            let md5_checksum = md5_of(&packed);
            let data_file_s3_key = format!("{FOLDER}/{}/{name}", export.id(table.name()));
            anyhow::Ok(Entry { item_count, etag: md5_checksum.clone(), md5_checksum, data_file_s3_key })
        }
    });
    let mut done = BTreeMap::new();
    let mut items = 0;
    let mut entries = std::pin::pin!(entries.buffer_unordered(table.workers()));
    while let Some(entry) = entries.try_next().await? {
        items += entry.item_count;
        progress(items, export.described.items);
        done.insert(entry.data_file_s3_key.clone(), entry);
    }
    let files = list(&done)?;
    write(&folder, FILES, files.as_bytes())?;
    write(&folder, FILES_MD5, md5_of(files.as_bytes()).as_bytes())?;
    let summary = serde_json::to_string(&export.summary(table.name(), items))?;
    write(&folder, SUMMARY, summary.as_bytes())?;
    write(&folder, SUMMARY_MD5, md5_of(summary.as_bytes()).as_bytes())?;
    fs::rename(&part, &root).with_context(|| format!("cannot write {}", root.display()))?;
    Ok(Written { files: u64::from(number), found: 0, items })
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// An export that has begun.
struct Export {
    described: Description,
    started: Timestamp,
}

impl Export {
    /// An id in the form of DynamoDB's.
    fn id(&self, table: &str) -> String {
        let mut name = Crc::new();
        name.update(table.as_bytes());
        format!("{:014}-{:08x}", self.started.as_millisecond(), name.sum())
    }

    fn summary(&self, table: &str, items: u64) -> Summary {
        let id = self.id(table);
        Summary {
            version: "2020-06-30".to_owned(),
            export_arn: format!("{}/export/{id}", self.described.arn),
            start_time: self.started.to_string(),
            end_time: Timestamp::now().to_string(),
            table_arn: self.described.arn.clone(),
            table_id: self.described.id.clone(),
            export_time: self.started.to_string(),
            s3_bucket: String::new(),
            s3_prefix: None,
            s3_sse_algorithm: None,
            s3_sse_kms_key_id: None,
            manifest_files_s3_key: format!("{FOLDER}/{id}/{FILES}"),
            billed_size_bytes: 0,
            item_count: items,
            output_format: format_name(),
            export_type: full(),
        }
    }
}
