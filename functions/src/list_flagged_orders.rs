//! `GET /flagged-orders`: the orders that somebody wants to look at, in the order they were flagged.

use http_api::{Answer, Description, Reply, Request, Route, Scope, Unfiltered};
use key_schema::entity::OrderFlag;
use key_schema::layout::FlaggedOrders;
use table::Reader;

pub const ROUTE: Route = Route::get("/flagged-orders", Scope::Admin);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let (Unfiltered {}, page) = request.list()?;
    Reply::ok(&table.page(&FlaggedOrders, &page).await?)
}

pub fn describe() -> Description {
    ROUTE.describe("The flagged orders, the longest flagged first: the flag of each.").lists::<Unfiltered, OrderFlag>()
}
