//! `GET /payments-due`: the payments on which the shop has to act, the longest due first.

use http_api::{Answer, Example, List, PaymentDueView, Route, Scope, Unfiltered};
use key_schema::access::Access;
use key_schema::layout::{PAYMENTS_DUE, in_shards};
use key_schema::page::Page;
use key_schema::value::TimeRange;
use table::{Every, Reader, StatusShards};

pub const ROUTE: Route = Route::get("/payments-due", Scope::Admin)
    .summary(
        "The orders about whose payment something is to be done, the longest due first. `work` says what: a capture, \
             void or refund that Till asks of the provider by itself, a refund that staff owe, a dispute to answer, \
             money that is missing, or an authorization that lapsed.",
    )
    .limit(50, 100)
    .access(&[Access::query(PAYMENTS_DUE)])
    .example(Example::at("09:52:10").query("limit=50"));

pub async fn handle(
    (table, Every(shards)): (Reader, Every<StatusShards>),
    List(Unfiltered {}, page): List<Unfiltered>,
) -> Answer<Page<PaymentDueView>> {
    let ever = TimeRange::default();
    let shards = in_shards(shards.0, |shard| PAYMENTS_DUE.ask((&shard, &ever)));
    Ok(table.merged(&shards, &page).await?.map(PaymentDueView::from))
}
