//! `GET /totals?from=&to=`: what was ordered on each day of a range.

use std::collections::BTreeMap;

use http_api::{Answer, DayTotalsView, Description, Reply, Request, Route, Scope};
use key_schema::entity::DayTotals;
use key_schema::layout::{Consistency, TotalsOfDays};
use key_schema::value::Days;
use table::{Page, Reader};

pub const ROUTE: Route = Route::get("/totals", Scope::Admin);

/// One BatchGetItem. Every day is listed, also one without an order, so there is always one page and no cursor.
pub async fn handle(table: Reader, request: Request) -> Answer {
    let days: Days = request.query()?;
    let items = table.batch(TotalsOfDays { days }.keys(), Consistency::Eventual, request.budget()).await?;

    let mut counted: BTreeMap<_, _> = items.into_iter().map(|totals: DayTotals| (totals.date, totals)).collect();
    let totals = days.each().map(|day| counted.remove(&day).map_or_else(|| DayTotalsView::empty(day), Into::into));
    Reply::ok(&Page { items: totals.collect(), next: None })
}

pub fn describe() -> Description {
    ROUTE.describe("What was ordered on each day of a range.").query::<Days>().lists_all::<DayTotalsView>()
}
