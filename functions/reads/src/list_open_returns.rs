//! `GET /returns`: the returns that staff have not received yet, the oldest first.

use http_api::{Answer, Example, List, ReturnView, Route, Scope, Unfiltered};
use key_schema::access::Access;
use key_schema::layout::{OPEN_RETURNS, in_shards};
use key_schema::page::Page;
use table::{Every, Reader, StatusShards};

pub const ROUTE: Route = Route::get("/returns", Scope::Admin)
    .summary("The open returns: those that were requested and neither received nor refused, the oldest first.")
    .limit(50, 100)
    .access(&[Access::query(OPEN_RETURNS)])
    .example(Example::at("09:51:54").query("limit=50"));

pub async fn handle(
    (table, Every(shards)): (Reader, Every<StatusShards>),
    List(Unfiltered {}, page): List<Unfiltered>,
) -> Answer<Page<ReturnView>> {
    let page = table.merged(&in_shards(shards.0, |shard| OPEN_RETURNS.ask(&shard)), &page).await?;
    Ok(page.map(|one| ReturnView::new(one, &[])))
}
