//! The counters of invoice numbers.

use serde::{Deserialize, Serialize};

use crate::value::InvoiceSeries;

/// The counter of a series of invoice numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceCounter {
    pub series: InvoiceSeries,
    /// The last number given. Every number up to it belongs to an invoice.
    pub last: u64,
}
