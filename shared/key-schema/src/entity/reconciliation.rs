//! How far the counts are compared with the orders.

use serde::{Deserialize, Serialize};

use crate::value::{Day, Timestamp};

/// The last scheduled comparison of the counts with the orders. There is one such item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconciliation {
    /// The day after the last one that is compared, in UTC.
    pub to: Day,
    /// Where it goes on, as whoever compares wrote it down. None when it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// When this was written: who goes on from here finds it unchanged, or somebody else did.
    pub updated_at: Timestamp,
}
