//! Writing an archive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use key_schema::value::Timestamp;
use objects::Put;
use table::{Description, Segment};

use super::format::{
    Entry, FILES, FILES_MD5, GZIP, JSON, STARTED, SUMMARY, SUMMARY_MD5, Summary, format_name, list, md5_of, pack,
};
use super::{Location, Table};

/// The size of the items of one data file, about, before they are compressed. A worker holds one file in memory.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The most data files. A scan has at most a million segments.
const MOST_FILES: u32 = 10_000;

/// The data of a data file that is beside it, so that a later run need not read the file.
const ITEMS: &str = "items";
const MD5: &str = "md5";

/// The data of the first object: the time of the first run, and the number of data files.
const STARTED_AT: &str = "started-at";
const DATA_FILES: &str = "files";

/// The data of the checksum of the summary: the time at which the archive was complete.
const ENDED_AT: &str = "ended-at";

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of data files that this run wrote.
    pub files: u64,
    /// The number of data files that an earlier run had written.
    pub found: u64,
    /// The number of items in all files.
    pub items: u64,
}

/// Writes the archive of a table that nobody writes any more. If an earlier run was interrupted, this one goes on: it
/// writes the files that are missing. If the archive is complete, nothing is written. `files` is the number of data files:
/// the first run decides. `progress` receives the number of items of the files so far, and an estimate of all.
///
/// # Errors
/// The table cannot be read, or S3 refuses an object.
pub async fn write(
    location: &Location,
    table: &Table,
    files: Option<u32>,
    progress: impl Fn(u64, u64),
) -> Result<Written> {
    let described = table.describe().await?;
    let (started, number) = begin(location, files, &described).await?;
    let there = files_there(location).await?;
    let (items, written) = (AtomicU64::new(0), AtomicU64::new(0));
    progress(0, described.items);
    let entries = stream::iter(0..number).map(|segment| {
        let name = file_name(segment, number);
        let is_there = there.contains(&location.data(&name));
        let (items, written, progress, described) = (&items, &written, &progress, &described);
        async move {
            let new = if is_there { None } else { file(location, table, segment, number, &name).await? };
            written.fetch_add(u64::from(new.is_some()), Ordering::Relaxed);
            let entry = match new {
                Some(entry) => entry,
                None => entry_of(location, &name).await?,
            };
            let items = items.fetch_add(entry.item_count, Ordering::Relaxed) + entry.item_count;
            progress(items, described.items);
            anyhow::Ok((entry.data_file_s3_key.clone(), entry))
        }
    });
    let entries: BTreeMap<_, _> = entries.buffer_unordered(table.workers()).try_collect().await?;
    finish(location, &entries, &described, &started).await?;
    let (written, items) = (written.into_inner(), items.into_inner());
    Ok(Written { files: written, found: u64::from(number) - written, items })
}

/// Begins the archive, unless it has begun. Returns the time at which it began, and the number of its data files.
async fn begin(location: &Location, asked: Option<u32>, described: &Description) -> Result<(String, u32)> {
    let key = location.key(STARTED);
    let (now, number) = (Timestamp::now().to_string(), asked.unwrap_or_else(|| files_for(described.bytes)));
    let meta = [(STARTED_AT, now.clone()), (DATA_FILES, number.to_string())];
    let begun = location.bucket.put_absent(&key, JSON, &meta, &[]).await;
    if let Put::Done(_) = begun.with_context(|| format!("cannot write to the bucket {}", location.bucket.name()))? {
        return Ok((now, number));
    }
    let found = location.bucket.head(&key).await?.unwrap_or_default();
    let foreign = || format!("{key} is not of this command: choose another --prefix");
    let started = found.meta(STARTED_AT).with_context(foreign)?.to_owned();
    let number = found.meta(DATA_FILES).and_then(|number| number.parse().ok()).with_context(foreign)?;
    ensure!(asked.is_none_or(|asked| asked == number), "the archive has begun with {number} files: leave --files out");
    Ok((started, number))
}

async fn files_there(location: &Location) -> Result<BTreeSet<String>> {
    let keys = location.bucket.list(&location.data("")).await;
    Ok(keys.context("the data files cannot be listed")?.into_iter().collect())
}

/// The number of data files for so many bytes.
pub(super) fn files_for(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(FILE_BYTES)).unwrap_or(MOST_FILES).clamp(1, MOST_FILES)
}

pub(super) fn file_name(segment: u32, of: u32) -> String {
    format!("{segment:05}-of-{of:05}.json.gz")
}

/// Writes the data file of one segment. `None` if somebody else has written it.
async fn file(location: &Location, table: &Table, segment: u32, of: u32, name: &str) -> Result<Option<Entry>> {
    let mut items = Vec::new();
    let part = Segment { number: segment, of };
    table.segment(part, &mut table.pace(), |page| items.extend(page)).await?;
    let item_count = items.len() as u64;
    let packed = tokio::task::spawn_blocking(move || pack(items)).await.context("a file cannot be packed")??;
    let (key, md5) = (location.data(name), md5_of(&packed));
    let meta = [(ITEMS, item_count.to_string()), (MD5, md5.clone())];
    let put = location.bucket.put_absent(&key, GZIP, &meta, &packed).await;
    Ok(match put.with_context(|| format!("{key} cannot be written"))? {
        Put::Done(etag) => Some(Entry { item_count, md5_checksum: md5, etag, data_file_s3_key: key }),
        Put::Exists => None,
    })
}

/// The line of the manifest for a file that was written before.
async fn entry_of(location: &Location, name: &str) -> Result<Entry> {
    let key = location.data(name);
    let found = location.bucket.head(&key).await?.with_context(|| format!("{key} has disappeared"))?;
    let foreign = || format!("{key} is not a file of this archive");
    Ok(Entry {
        item_count: found.meta(ITEMS).and_then(|items| items.parse().ok()).with_context(foreign)?,
        md5_checksum: found.meta(MD5).with_context(foreign)?.to_owned(),
        etag: found.etag.clone(),
        data_file_s3_key: key,
    })
}

/// Writes the manifests, the summary last: an archive that has one is complete.
async fn finish(
    location: &Location,
    entries: &BTreeMap<String, Entry>,
    described: &Description,
    started: &str,
) -> Result<()> {
    let bucket = &location.bucket;
    if bucket.head(&location.key(SUMMARY)).await?.is_some() {
        return Ok(());
    }
    let files = list(entries)?;
    for (name, text) in [(FILES_MD5, md5_of(files.as_bytes())), (FILES, files)] {
        put(location, name, &text).await?;
    }
    let summary = |ended: &str| {
        serde_json::to_string(&Summary {
            version: "2020-06-30".to_owned(),
            export_arn: format!("{}/export/{}", described.arn, location.id()),
            start_time: started.to_owned(),
            end_time: ended.to_owned(),
            table_arn: described.arn.clone(),
            table_id: described.id.clone(),
            export_time: started.to_owned(),
            s3_bucket: bucket.name().to_owned(),
            s3_prefix: Some(location.prefix().to_owned()),
            s3_sse_algorithm: None,
            s3_sse_kms_key_id: None,
            manifest_files_s3_key: location.key(FILES),
            billed_size_bytes: 0,
            item_count: entries.values().map(|entry| entry.item_count).sum(),
            output_format: format_name(),
            export_type: super::format::full(),
        })
    };
    // If two runs end at once, both write the same summary: that of the time that one of them wrote first.
    let now = Timestamp::now().to_string();
    let key = location.key(SUMMARY_MD5);
    let first = md5_of(summary(&now)?.as_bytes());
    let ended = match bucket.put_absent(&key, JSON, &[(ENDED_AT, now.clone())], first.as_bytes()).await? {
        Put::Done(_) => now,
        Put::Exists => {
            let found = bucket.head(&key).await?.unwrap_or_default();
            found.meta(ENDED_AT).with_context(|| format!("{key} is not of this command"))?.to_owned()
        }
    };
    put(location, SUMMARY, &summary(&ended)?).await
}

async fn put(location: &Location, name: &str, text: &str) -> Result<()> {
    let key = location.key(name);
    location.bucket.put(&key, JSON, text.as_bytes()).await.with_context(|| format!("{key} cannot be written"))?;
    Ok(())
}
