//! What is wrong with an archive.

use std::fmt;

/// A finding of a verification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// The manifest names a data file that is not there.
    MissingFile(String),
    /// A data file is there that the manifest does not name. DynamoDB would import it.
    AdditionalFile(String),
    /// The content of an object is not what its checksum says.
    Changed(String),
    /// A data file has no items that can be read: the file, and the reason.
    Unreadable(String, String),
    /// The number of items is not the manifest's: the manifest or the file, its number, and the number found.
    OtherCount(String, u64, u64),
    /// The items of a kind are not those of the last verification.
    OtherSum(String),
    /// The list of files is not the one of the last verification.
    OtherList(String),
    /// An item of the table is not in the archive.
    Missing(String, String),
    /// An item of the archive is not in the table.
    Additional(String, String),
    /// An item has another content in the archive than in the table.
    Different(String, String),
    /// An item is in the archive more than once.
    Repeated(String, String),
    /// Further items differ: so many that they are not named.
    More,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingFile(file) => write!(f, "{file} is missing"),
            Self::AdditionalFile(file) => write!(f, "{file} is not in the manifest, but DynamoDB would import it"),
            Self::Changed(file) => write!(f, "{file} is not what its checksum says"),
            Self::Unreadable(file, why) => write!(f, "{file} cannot be read: {why}"),
            Self::OtherCount(file, expected, found) => write!(f, "{file} says {expected} items, and there are {found}"),
            Self::OtherSum(kind) => write!(f, "the items of the kind {kind} are not those that were verified before"),
            Self::OtherList(file) => write!(f, "{file} is not the list of files that was verified before"),
            Self::Missing(partition, sort) => write!(f, "the item {partition} {sort} is missing in the archive"),
            Self::Additional(partition, sort) => {
                write!(f, "the item {partition} {sort} is in the archive, but not in the table")
            }
            Self::Different(partition, sort) => {
                write!(f, "the item {partition} {sort} has another content in the archive than in the table")
            }
            Self::Repeated(partition, sort) => {
                write!(f, "the item {partition} {sort} is in the archive more than once")
            }
            Self::More => f.write_str("further items differ"),
        }
    }
}
