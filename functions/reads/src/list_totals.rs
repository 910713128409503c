//! `GET /totals?from=&to=`: the totals of the orders of each day in a range.

use std::collections::BTreeMap;

use http_api::{All, Answer, DayTotalsView, Example, Query, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::DayTotals;
use key_schema::layout::Consistency;
use key_schema::value::Days;
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/totals", Scope::Admin)
    .summary("The totals of the orders placed on each day of a range. Days are those of the shop's time zone.")
    .limit(10, 20)
    .access(&[Access::batch_get::<DayTotals>()])
    .example(Example::at("09:58:00").query("from=2026-11-01&to=2026-12-01"));

/// Takes one BatchGetItem. Days without orders are listed, too. There is always one page, without a cursor.
pub async fn handle(table: Reader, Query(days): Query<Days>, budget: Budget) -> Answer<All<DayTotalsView>> {
    let items = table.batch(DayTotals::keys_of(days), Consistency::Eventual, budget).await?;

    let mut by_day: BTreeMap<_, _> = items.into_iter().map(|totals: DayTotals| (totals.date, totals)).collect();
    let totals = days.each().map(|day| by_day.remove(&day).map_or_else(|| DayTotalsView::empty(day), Into::into));
    Ok(All(totals.collect()))
}
