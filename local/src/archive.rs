//! Exports of a table in DynamoDB's own format.
//!
//! - [`verify()`] reads an export in S3 back, and compares it with its manifest, with the table, and with what an earlier
//!   verification found.
//! - [`write_files()`] writes the data files of an export, of a table that may be in use.
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

pub use files::{Written, write_files};
pub use findings::Finding;
pub use location::Location;
pub use record::Record;
pub use table::{Table, Units};
pub use tally::Sums;
pub use verify::{Against, Verdict, verify};
