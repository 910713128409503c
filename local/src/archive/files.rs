//! The data files of a full export, for analysis. The shop may be open.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flate2::Crc;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use key_schema::value::Timestamp;
use table::{Item, Segment};

use super::Table;
use super::format::{pack, write_lines};
use super::location::FOLDER;

/// The size of the items of one data file, about, before they are compressed. A worker holds one file in memory.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The most data files. A scan has at most a million segments.
const MOST_FILES: u32 = 10_000;

/// What was written.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The number of data files.
    pub files: u32,
    /// The number of items in all files.
    pub items: u64,
}

/// Writes the data files of a full export below a directory, in the folders of DynamoDB's own: `AWSDynamoDB/ID/data`. They
/// appear there together when they are complete. Each item is as it was when it was read: unlike DynamoDB, this reads the
/// table's items one after the other. `progress` receives the number of items so far.
pub async fn write_files(directory: &Path, table: &Table, progress: impl Fn(u64)) -> Result<Written> {
    let root = directory.join(FOLDER);
    ensure!(!root.exists(), "{} has an export already: choose another directory", directory.display());
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let part = directory.join(format!("{FOLDER}.part"));
    // Fails if the folder is there: another run may be writing it.
    fs::create_dir(&part)
        .with_context(|| format!("cannot make {}: delete it if an earlier run was interrupted", part.display()))?;
    let folder = part.join(id(table.name())).join("data");
    fs::create_dir_all(&folder)?;
    let number = files_for(table.describe().await?.bytes);
    let files = stream::iter(0..number).map(|segment| {
        let path = folder.join(format!("{segment:05}-of-{number:05}.json.gz"));
        async move {
            let (mut lines, mut count) = (Vec::new(), 0);
            let part = Segment { number: segment, of: number };
            let each = |page: Vec<Item>| {
                count += page.len() as u64;
                write_lines(&mut lines, page)
            };
            table.segment(part, &mut table.pace(), each).await?;
            let packed =
                tokio::task::spawn_blocking(move || pack(&lines)).await.context("a file cannot be packed")??;
            fs::write(&path, packed).with_context(|| format!("cannot write {}", path.display()))?;
            anyhow::Ok(count)
        }
    });
    let mut items = 0;
    let mut files = std::pin::pin!(files.buffer_unordered(table.workers()));
    while let Some(count) = files.try_next().await? {
        items += count;
        progress(items);
    }
    fs::rename(&part, &root).with_context(|| format!("cannot write {}", root.display()))?;
    Ok(Written { files: number, items })
}

/// The number of data files for so many bytes.
fn files_for(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(FILE_BYTES)).unwrap_or(MOST_FILES).clamp(1, MOST_FILES)
}

/// An id in the form of DynamoDB's.
fn id(table: &str) -> String {
    let mut name = Crc::new();
    name.update(table.as_bytes());
    format!("{:014}-{:08x}", Timestamp::now().as_millisecond(), name.sum())
}
