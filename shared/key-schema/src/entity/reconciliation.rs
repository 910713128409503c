//! The progress of comparing the counts with the orders.

use serde::{Deserialize, Serialize};

use crate::value::{Day, Timestamp};

/// The last scheduled comparison of the counts with the orders. There is only one such item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconciliation {
    /// The day after the last one to compare, in UTC.
    pub to: Day,
    /// The position from which to continue, in a form of `reconcile-counts`. `None` when the comparison is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// The time of the last write. A run continues only if this is unchanged; otherwise another run has continued.
    pub updated_at: Timestamp,
}
