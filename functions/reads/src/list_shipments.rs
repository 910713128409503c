//! `GET /orders/{orderId}/shipments`: the shipments of an order.

use http_api::{All, Answer, Caller, Example, Kind, Path, Query, Route, Scope, ShipmentView, Unfiltered};
use key_schema::access::Access;
use key_schema::layout::ORDER_BY_ID;
use key_schema::value::OrderId;
use table::{Budget, Reader};

use crate::owner;

pub const ROUTE: Route = Route::get("/orders/{orderId}/shipments", Scope::Shop)
    .summary("The shipments of an order.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced])
    .access(&[Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:51:19").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// All shipments are in one page: an order has at most twenty.
pub async fn handle(
    table: Reader,
    Path(id): Path<OrderId>,
    Query(Unfiltered {}): Query<Unfiltered>,
    caller: Caller,
    budget: Budget,
) -> Answer<All<ShipmentView>> {
    let whole = owner::placed(&table, &id, &caller, budget).await?;
    Ok(All(whole.shipments.into_iter().map(|one| ShipmentView::new(one, &whole.lines)).collect()))
}
