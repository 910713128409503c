//! `GET /orders?status=`: the orders of a status, oldest first, merged from the shards of the status.

use http_api::{Answer, Example, List, OrderView, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::OrderStatus;
use key_schema::layout::{ORDERS_OF_STATUS, in_shards};
use key_schema::page::Page;
use key_schema::value::{TimeRange, moment};
use serde::Deserialize;
use table::{Every, Reader, StatusShards};
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/orders", Scope::Admin)
    .summary("The orders of a status in a time range, oldest first.")
    .limit(50, 100)
    .access(&[Access::query(ORDERS_OF_STATUS)])
    .example(Example::at("09:48:00").query("status=PENDING&from=2026-01-01&limit=50"));

/// The filter of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OfStatus {
    status: OrderStatus,
    /// Only orders placed at or after this moment. A date means midnight UTC.
    #[param(schema_with = moment, required = false)]
    from: Option<String>,
    /// Only orders placed before this moment. A date means midnight UTC.
    #[param(schema_with = moment, required = false)]
    to: Option<String>,
}

pub async fn handle(
    (table, Every(shards)): (Reader, Every<StatusShards>),
    List(filter, page): List<OfStatus>,
) -> Answer<Page<OrderView>> {
    let placed = TimeRange::parse(filter.from.as_deref(), filter.to.as_deref()).map_err(Problem::invalid)?;
    let shards = in_shards(shards.0, |shard| ORDERS_OF_STATUS.ask((&filter.status, &shard, &placed)));
    Ok(table.merged(&shards, &page).await?.map(OrderView::from))
}
