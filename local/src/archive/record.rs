//! The record of a verification, beside the manifest.

use serde::{Deserialize, Serialize};

use super::Sums;

/// What an archive held when it was verified, and what it was compared with. An operator who is about to delete the table
/// looks for this object, `verified.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The time of the verification.
    pub verified_at: String,
    /// The ARN of the table that the archive was equal to.
    pub table_arn: String,
    /// The MD5 of `manifest-files.json`, in base 64.
    pub manifest_md5: String,
    /// The number of data files.
    pub files: u64,
    /// The number of items, with those that do not count.
    pub items: u64,
    /// The number of items that expire, and do not count: DynamoDB may delete them from the table at any time.
    pub expiring: u64,
    /// Items that expire until this time do not count.
    pub expiring_until: String,
    /// The counts and checksums of the items of each kind.
    pub sums: Sums,
}

/// The name of the object.
pub(super) const RECORD: &str = "verified.json";
