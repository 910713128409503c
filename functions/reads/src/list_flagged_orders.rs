//! `GET /flagged-orders`: the flags of all flagged orders, oldest flag first.

use http_api::{Answer, Example, FlaggedOrderView, List, Route, Scope, Unfiltered};
use key_schema::access::Access;
use key_schema::layout::FLAGGED_ORDERS;
use key_schema::page::Page;
use table::Reader;

pub const ROUTE: Route = Route::get("/flagged-orders", Scope::Admin)
    .summary("The flags of all flagged orders, oldest flag first.")
    .access(&[Access::query(FLAGGED_ORDERS)])
    .example(Example::at("09:49:20").query("limit=50"));

pub async fn handle(table: Reader, List(Unfiltered {}, page): List<Unfiltered>) -> Answer<Page<FlaggedOrderView>> {
    Ok(table.page(&FLAGGED_ORDERS.ask(()), &page).await?.map(FlaggedOrderView::from))
}
