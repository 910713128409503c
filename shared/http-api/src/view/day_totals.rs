use key_schema::entity::{DayTotals, OrderStatus};
use key_schema::value::{Day, Money};
use serde::Serialize;
use utoipa::ToSchema;

use super::at_rest;

/// The totals of the orders of a day.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayTotals)]
pub struct DayTotalsView {
    /// The day, in UTC.
    date: Day,
    /// The number of orders, without cancelled ones.
    orders: u64,
    /// The number of units, without cancelled orders.
    units: u64,
    /// The sum of the orders' totals after discounts, for each currency.
    revenue: Vec<Money>,
    /// The number of the day's orders in each status, with cancelled ones.
    statuses: Vec<StatusCountView>,
}

/// The number of orders in a status.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatusCount)]
pub struct StatusCountView {
    status: OrderStatus,
    orders: u64,
}

impl DayTotalsView {
    /// The totals of a day without orders.
    pub fn empty(date: Day) -> Self {
        Self { date, orders: 0, units: 0, revenue: Vec::new(), statuses: Vec::new() }
    }
}

impl From<DayTotals> for DayTotalsView {
    fn from(totals: DayTotals) -> Self {
        let statuses = totals.statuses.iter().filter(|(_, orders)| *orders > 0);
        Self {
            date: totals.date,
            orders: at_rest(totals.orders),
            units: at_rest(totals.units),
            revenue: totals.revenue.money(),
            statuses: statuses.map(|(status, orders)| StatusCountView { status, orders: at_rest(orders) }).collect(),
        }
    }
}
