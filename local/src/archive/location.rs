//! The place of an export, and the names of its objects.

use std::fmt;

use anyhow::{Context as _, Result, ensure};
use lambda::Environment;
use objects::Bucket;

/// The folder that DynamoDB makes below the prefix of an export.
pub(super) const FOLDER: &str = "AWSDynamoDB";

/// The folder of one export in a bucket.
#[derive(Clone, Debug)]
pub struct Location {
    pub(super) bucket: Bucket,
    /// The prefix of all keys, without a final slash: `PREFIX/AWSDynamoDB/ID`.
    folder: String,
}

impl Location {
    /// The export at a URL like `s3://BUCKET/PREFIX/AWSDynamoDB/ID`, also with the name of a manifest behind it.
    pub fn parse(environment: &Environment, url: &str) -> Result<Self> {
        let wrong = || format!("{url} is not like s3://BUCKET/PREFIX/{FOLDER}/ID");
        let (bucket, key) = url.strip_prefix("s3://").and_then(|rest| rest.split_once('/')).with_context(wrong)?;
        let folder = key.trim_end_matches('/').trim_end_matches("/manifest-summary.json");
        let folder = folder.trim_end_matches("/manifest-files.json").trim_end_matches("/data");
        ensure!(folder.split('/').rev().nth(1) == Some(FOLDER), wrong());
        let bucket = Bucket::open(environment, bucket).context("cannot reach the bucket")?;
        Ok(Self { bucket, folder: folder.to_owned() })
    }

    /// The key of an object of the export.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// The key of a data file, wherever the export was when its manifest was written.
    pub(super) fn data(&self, name: &str) -> String {
        self.key(&format!("data/{}", name.rsplit('/').next().unwrap_or(name)))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket.name(), self.folder)
    }
}
