use key_schema::entity::{DayTotals, OrderStatus};
use key_schema::value::{Day, Money};
use serde::Serialize;
use utoipa::ToSchema;

use super::at_rest;

/// What was ordered on a day.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayTotals)]
pub struct DayTotalsView {
    /// The day, in UTC.
    date: Day,
    /// How many orders, cancelled ones left out.
    orders: u64,
    /// How many units.
    units: u64,
    /// What was to be paid for them, one sum for each currency.
    revenue: Vec<Money>,
    /// How many of the orders have each status now, cancelled ones too.
    statuses: Vec<StatusCountView>,
}

/// How many orders have a status.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatusCount)]
pub struct StatusCountView {
    status: OrderStatus,
    orders: u64,
}

impl DayTotalsView {
    /// A day without an order.
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
