//! The archive of a table in S3, in the format of DynamoDB's own export, so that DynamoDB can import it again.
//!
//! - [`write()`] reads a table that nobody writes, and writes one data file for each segment of the scan. A file is written
//!   whole or not at all, and never replaced, so the same call goes on after a crash.
//! - [`verify()`] reads an archive back and compares it with its manifest, with the table, and with what an earlier
//!   verification found. It also takes an export that DynamoDB has made.
//! - [`write_files()`] writes a full export as files, of a table that may be in use.
//!
//! **Invariant: nothing here deletes anything**, neither items nor objects.

mod files;
mod findings;
mod format;
mod location;
mod record;
mod table;
mod tally;
mod verify;
mod write;

pub use files::write_files;
pub use findings::Finding;
pub use location::Location;
pub use record::Record;
pub use table::{Table, Units};
pub use tally::Sums;
pub use verify::{Against, Verdict, verify};
pub use write::{Written, write};
