//! `GET /orders?status=`: the orders of a status in a range of time, its shards merged.

use http_api::{Answer, Description, OrderView, Reply, Request, Route, Scope};
use key_schema::entity::OrderStatus;
use key_schema::layout::OrdersOfStatus;
use key_schema::value::{TimeRange, moment};
use serde::Deserialize;
use table::{Reader, StatusShards};
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/orders", Scope::Admin);

/// Which orders.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OfStatus {
    status: OrderStatus,
    /// Placed from this moment on. A date is midnight UTC.
    #[param(schema_with = moment, required = false)]
    from: Option<String>,
    /// Placed until before this moment. A date is midnight UTC.
    #[param(schema_with = moment, required = false)]
    to: Option<String>,
}

pub async fn handle((table, shards): (Reader, StatusShards), request: Request) -> Answer {
    let (filter, page) = request.list::<OfStatus>()?;
    let placed = TimeRange::parse(filter.from.as_deref(), filter.to.as_deref())?;
    let shards = OrdersOfStatus::in_shards(filter.status, shards.0, &placed);
    Reply::ok(&table.merged(&shards, &page).await?.map(OrderView::from))
}

pub fn describe() -> Description {
    ROUTE.describe("The orders of a status in a range of time, oldest first.").lists::<OfStatus, OrderView>()
}
