//! `PUT /orders/{orderId}/flag`: somebody wants to look at this order.

use http_api::{Answer, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::{Order, OrderFlag};
use key_schema::value::{Name, OrderId, Timestamp};
use serde::Deserialize;
use table::{Cause, Commit, Condition, Write, Writer, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::put("/orders/{orderId}/flag", Scope::Admin);

/// Why.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagRequest {
    reason: Name,
}

/// The flag is an item of its own, under the condition that its order exists. The same flag again changes nothing;
/// another reason makes it a new flag.
pub async fn handle(table: Writer, request: Request) -> Answer {
    let order_id: OrderId = request.path("orderId")?;
    let FlagRequest { reason } = request.json()?;
    let flag = OrderFlag { order_id, reason: reason.into(), flagged_at: Timestamp::now() };

    let is_news = Condition::new("attribute_not_exists(#PK) OR #reason <> :reason").value(":reason", &flag.reason)?;
    let writes = vec![Write::check(Order::key_of(&flag.order_id), Condition::present()), Write::set(&flag, is_news)?];
    let Commit::Cancelled(causes) = table.commit(writes, request.budget()).await? else {
        return Reply::ok(&flag);
    };
    match <[Cause; 2]>::try_from(causes) {
        Ok([Cause::None, Cause::Condition(Some(existing))]) => {
            Ok(Reply::ok(&read_item::<OrderFlag>(existing)?)?.replayed(true))
        }
        _ => Err(Problem::not_found("order")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Flag an order.")
        .accepts::<FlagRequest>()
        .replays()
        .answers::<OrderFlag>()
        .refuses(&[Kind::NotFound])
}
