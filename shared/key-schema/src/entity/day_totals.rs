//! The totals of each day.

use serde::{Deserialize, Serialize};

use crate::value::{Currency, Day};

use super::tally::{revenue, saturated, status};
use super::{OrderStatus, Sums};

/// Counters of the orders placed on one day, or amounts to add to them. The item does not exist before the first order
/// is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayTotals {
    /// The day in the shop's time zone.
    pub date: Day,
    /// The number of orders, without cancelled ones.
    #[serde(default, deserialize_with = "saturated")]
    pub orders: i64,
    /// The number of units, without cancelled orders.
    #[serde(default, deserialize_with = "saturated")]
    pub units: i64,
    /// The sum of the orders' totals after discounts, in minor units, as attributes like `revenue:EUR`.
    #[serde(flatten, with = "revenue")]
    pub revenue: Sums<Currency>,
    /// The number of orders in each status now, including cancelled ones, as attributes like `status:PENDING`.
    #[serde(flatten, with = "status")]
    pub statuses: Sums<OrderStatus>,
}
