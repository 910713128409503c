//! Verifying an archive: reading it back, and comparing it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use key_schema::entity::Checksum;
use key_schema::value::Timestamp;
use table::{Item, Segment};

use super::findings::Finding;
use super::format::{Entry, FILES, FILES_MD5, JSON, SUMMARY, SUMMARY_MD5, Summary, entries, md5_of, unpack};
use super::record::{RECORD, Record};
use super::tally::{Place, Rules, Tally};
use super::{Location, Sums, Table};

/// Items that expire within this time, in milliseconds, do not count: DynamoDB may delete them while the table is read.
const MARGIN: i64 = 24 * 60 * 60 * 1000;

/// The most items that are named, and the most parts in which they are looked for.
const MOST_NAMED: usize = 20;

/// The number of data files that are read at once without a table.
const READERS: usize = 4;

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
    /// The counts and checksums of the archive's items.
    pub archived: Sums,
    /// Those of the table, if the archive was compared with it.
    pub of_table: Option<Sums>,
    /// The number of items that do not count, because they expire.
    pub expiring: u64,
    /// The number of items.
    pub items: u64,
    /// The number of data files.
    pub files: u64,
    /// The time of the verification that an archive alone was compared with, if there was one.
    pub verified_before: Option<String>,
}

/// What an archive is compared with, next to its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The table. Nobody must write it.
    Table,
    /// The record of the last verification, if there is one. The table may be gone, or in use.
    Record,
}

/// Reads an archive back, and compares it. An archive that is equal to its table gets a [`Record`]. `progress` receives the
/// number of items read so far, and an estimate of all.
pub async fn verify(
    location: &Location,
    table: &Table,
    against: Against,
    progress: impl Fn(u64, u64),
) -> Result<Verdict> {
    let manifest = Manifest::read(location).await?;
    let mut findings = manifest.findings.clone();
    let record = record(location).await?;
    let compares = against == Against::Table;
    let until = match (&record, against) {
        // The same items count as then.
        (Some(record), Against::Record) => record.expiring_until.parse().context("the record cannot be read")?,
        _ => {
            Timestamp::from_millisecond(Timestamp::now().as_millisecond() + MARGIN).context("there is no such time")?
        }
    };
    let rules = Rules { table: table.whole.clone(), until };
    let all = manifest.summary.item_count * if compares { 2 } else { 1 };
    let archived = manifest.tally(location, &rules, &mut findings, |items| progress(items, all)).await?;
    let mut of_table = None;
    if compares {
        let read = scan(table, &rules, |items| progress(manifest.summary.item_count + items, all)).await?;
        let parts = archived.differing(&read);
        if !parts.is_empty() {
            findings.extend(named(&manifest, location, table, &rules, &parts).await?);
        }
        of_table = Some(read.sums);
    } else if let Some(record) = &record {
        findings.extend(since(record, &manifest.md5, &archived.sums));
    }
    findings.sort();
    findings.dedup();
    let verdict = Verdict {
        items: archived.items(),
        expiring: archived.expiring,
        archived: archived.sums,
        of_table,
        files: manifest.entries.len() as u64,
        verified_before: record.filter(|_| !compares).map(|record| record.verified_at),
        findings,
    };
    if verdict.findings.is_empty() && compares {
        verdict.keep(location, table, manifest.md5, until).await?;
    }
    Ok(verdict)
}

impl Verdict {
    /// Writes the record.
    async fn keep(&self, location: &Location, table: &Table, manifest_md5: String, until: Timestamp) -> Result<()> {
        let record = Record {
            verified_at: Timestamp::now().to_string(),
            // Not the manifest's: the table may have been made of this archive.
            table_arn: table.describe().await?.arn,
            manifest_md5,
            files: self.files,
            items: self.items,
            expiring: self.expiring,
            expiring_until: until.to_string(),
            sums: self.archived.clone(),
        };
        let record = serde_json::to_vec_pretty(&record)?;
        location.bucket.put(&location.key(RECORD), JSON, &record).await.context("the record cannot be written")?;
        Ok(())
    }
}

async fn record(location: &Location) -> Result<Option<Record>> {
    let Some(object) = location.bucket.get(&location.key(RECORD)).await? else { return Ok(None) };
    Ok(Some(serde_json::from_slice(&object).with_context(|| format!("{RECORD} cannot be read"))?))
}

/// What has changed since the record: the list of files, and the kinds whose items are others.
fn since(record: &Record, manifest_md5: &str, archived: &Sums) -> Vec<Finding> {
    let kinds: BTreeSet<_> = record.sums.keys().chain(archived.keys()).collect();
    let other = kinds.into_iter().filter(|kind| record.sums.get(*kind) != archived.get(*kind));
    let list = (record.manifest_md5 != manifest_md5).then(|| Finding::OtherList(FILES.to_owned()));
    other.map(|kind| Finding::OtherSum(kind.clone())).chain(list).collect()
}

struct Manifest {
    summary: Summary,
    entries: Vec<Entry>,
    /// The MD5 of the list of files.
    md5: String,
    /// What is wrong with the manifests, and with the names of the files.
    findings: Vec<Finding>,
}

impl Manifest {
    async fn read(location: &Location) -> Result<Self> {
        let missing = || format!("{location} has no {SUMMARY}: it is no export, or it is not complete yet");
        let summary = location.bucket.get(&location.key(SUMMARY)).await?.with_context(missing)?;
        let files = location.bucket.get(&location.key(FILES)).await?;
        let files = files.with_context(|| format!("{location} has no {FILES}"))?;
        let mut findings = Vec::new();
        for (name, object, sum) in [(SUMMARY, &summary, SUMMARY_MD5), (FILES, &files, FILES_MD5)] {
            // Exports before 2020 had no such objects.
            if let Some(sum) = location.bucket.get(&location.key(sum)).await?
                && String::from_utf8_lossy(&sum).trim() != md5_of(object)
            {
                findings.push(Finding::Changed(name.to_owned()));
            }
        }
        let md5 = md5_of(&files);
        let summary: Summary = serde_json::from_slice(&summary).with_context(|| format!("{SUMMARY} is damaged"))?;
        summary.ensure_readable()?;
        let entries = entries(&files)?;
        let items = entries.iter().map(|entry| entry.item_count).sum();
        if items != summary.item_count {
            findings.push(Finding::OtherCount(SUMMARY.to_owned(), summary.item_count, items));
        }
        let known: BTreeSet<_> = entries.iter().map(|entry| location.data(&entry.data_file_s3_key)).collect();
        let there = location.bucket.list(&location.data("")).await.context("the data files cannot be listed")?;
        let strangers = there.into_iter().filter(|key| !known.contains(key));
        findings.extend(strangers.map(Finding::AdditionalFile));
        Ok(Self { summary, entries, md5, findings })
    }

    /// Reads all data files back.
    async fn tally(
        &self,
        location: &Location,
        rules: &Rules,
        findings: &mut Vec<Finding>,
        progress: impl Fn(u64),
    ) -> Result<Tally> {
        let files = stream::iter(&self.entries).map(|entry| file(location, entry, rules.clone()));
        let mut files = std::pin::pin!(files.buffer_unordered(READERS));
        let mut all = Tally::new(rules.clone());
        while let Some((found, tally)) = files.try_next().await? {
            findings.extend(found);
            all.absorb(tally);
            progress(all.items());
        }
        Ok(all)
    }
}

/// Reads a data file, and compares it with its line in the manifest.
async fn file(location: &Location, entry: &Entry, rules: Rules) -> Result<(Vec<Finding>, Tally)> {
    let key = location.data(&entry.data_file_s3_key);
    let Some(body) = location.bucket.get(&key).await? else {
        return Ok((vec![Finding::MissingFile(key)], Tally::new(rules)));
    };
    let entry = entry.clone();
    let read = tokio::task::spawn_blocking(move || {
        let (mut findings, mut tally) = (Vec::new(), Tally::new(rules));
        if md5_of(&body) != entry.md5_checksum {
            findings.push(Finding::Changed(key.clone()));
        }
        match unpack(&body, |item| tally.add(item)) {
            Ok(items) if items == entry.item_count => {}
            Ok(items) => findings.push(Finding::OtherCount(key, entry.item_count, items)),
            Err(error) => findings.push(Finding::Unreadable(key, format!("{error:#}"))),
        }
        (findings, tally)
    });
    read.await.context("a file cannot be read")
}

/// Reads the whole table.
async fn scan(table: &Table, rules: &Rules, progress: impl Fn(u64)) -> Result<Tally> {
    let workers = u32::try_from(table.workers()).unwrap_or(1);
    let (seen, progress) = (AtomicU64::new(0), &progress);
    let segments = (0..workers).map(|number| {
        let seen = &seen;
        async move {
            let mut tally = Tally::new(rules.clone());
            let each = |page: Vec<Item>| {
                let items = page.len() as u64;
                for item in page {
                    tally.add(item);
                }
                progress(seen.fetch_add(items, Ordering::Relaxed) + items);
                Ok(())
            };
            table.segment(Segment { number, of: workers }, &mut table.pace(), each).await?;
            anyhow::Ok(tally)
        }
    });
    let mut all = Tally::new(rules.clone());
    for tally in futures_util::future::try_join_all(segments).await? {
        all.absorb(tally);
    }
    Ok(all)
}

/// Names the items in which archive and table differ. Both are read a second time, and only the items of some of the
/// parts that differ are remembered.
async fn named(
    manifest: &Manifest,
    location: &Location,
    table: &Table,
    rules: &Rules,
    parts: &[usize],
) -> Result<Vec<Finding>> {
    let looked_at: BTreeSet<_> = parts.iter().take(MOST_NAMED).copied().collect();
    let wanted = |item: Item| rules.read(item).filter(|(_, part, _)| looked_at.contains(part));
    let (mut archived, mut findings) = (HashMap::<Place, Checksum>::new(), Vec::new());
    for entry in &manifest.entries {
        let Some(body) = location.bucket.get(&location.data(&entry.data_file_s3_key)).await? else {
            continue;
        };
        // What cannot be read was found before.
        _ = unpack(&body, |item| {
            if let Some((place, _, sum)) = wanted(item)
                && archived.insert(place.clone(), sum).is_some()
            {
                findings.push(Finding::Repeated(place.0, place.1));
            }
        });
    }
    let mut missing = BTreeMap::new();
    let each = |page: Vec<Item>| {
        for (place, _, sum) in page.into_iter().filter_map(wanted) {
            match archived.remove(&place) {
                Some(found) if found == sum => {}
                Some(_) => findings.push(Finding::Different(place.0, place.1)),
                None => _ = missing.insert(place, sum),
            }
        }
        Ok(())
    };
    table.segment(Segment { number: 0, of: 1 }, &mut table.pace(), each).await?;
    findings.extend(missing.into_keys().map(|(partition, sort)| Finding::Missing(partition, sort)));
    findings.extend(archived.into_keys().map(|(partition, sort)| Finding::Additional(partition, sort)));
    findings.sort();
    if parts.len() > looked_at.len() || findings.len() > MOST_NAMED {
        findings.truncate(MOST_NAMED);
        findings.push(Finding::More);
    }
    Ok(findings)
}
