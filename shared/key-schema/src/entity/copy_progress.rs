//! The progress of copying one table to another.

use serde::{Deserialize, Serialize};

use super::ItemKey;
use crate::value::Timestamp;

/// The progress of copying one segment of the leading table. It is in that table, and is never copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyProgress {
    pub segment: u8,
    /// The number of segments. Another number begins anew.
    pub segments: u8,
    /// The canonical key of the last item of the segment that is copied. `None` before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<ItemKey>,
    /// Whether the whole segment is copied.
    pub is_done: bool,
    /// The number of items that were read.
    pub items: u64,
    /// The number of items that were copied. The others were equal in both tables.
    pub copied: u64,
    pub updated_at: Timestamp,
}
