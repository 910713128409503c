//! What was ordered on each day.

use serde::{Deserialize, Serialize};

use crate::value::{Currency, Day};

use super::tally::{revenue, saturated, status};
use super::{OrderStatus, Sums};

/// What the orders placed on one day add up to, or what to add to that. Counted from the table's stream; absent
/// until the first order is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayTotals {
    /// Which day, in UTC.
    pub date: Day,
    /// How many orders, cancelled ones left out.
    #[serde(default, deserialize_with = "saturated")]
    pub orders: i64,
    /// How many units.
    #[serde(default, deserialize_with = "saturated")]
    pub units: i64,
    /// What was to be paid for them, in minor units and after discounts: `revenue:EUR`.
    #[serde(flatten, with = "revenue")]
    pub revenue: Sums<Currency>,
    /// How many of the orders have each status now, cancelled ones too: `status:PENDING`.
    #[serde(flatten, with = "status")]
    pub statuses: Sums<OrderStatus>,
}
