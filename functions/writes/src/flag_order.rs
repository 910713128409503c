//! `PUT /orders/{orderId}/flag`: flags an order, for staff to look at.

use http_api::{Answer, Example, FlaggedOrderView, Json, Kind, Path, Problem, Replayable, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::{Order, OrderFlag};
use key_schema::layout::{ORDER_BY_ID, OrderState};
use key_schema::value::{Name, OrderId, Timestamp};
use serde::Deserialize;
use table::{Budget, Cause, Commit, Condition, Reader, Write, Writer, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::put("/orders/{orderId}/flag", Scope::Admin)
    .summary("Flag an order.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::CustomerErased])
    .access(&[Access::check::<Order>(), Access::update::<OrderFlag>().in_transactions(), Access::query(ORDER_BY_ID)])
    .example(
        Example::at("09:48:40")
            .path("ccc44633-c523-5b35-9669-978f6b6bc252")
            .body(r#"{"reason":"The address looks incomplete"}"#),
    );

/// A request to flag an order.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagRequest {
    reason: Name,
}

/// The flag is an item of its own, written on condition that its order exists and is not erased. A repeated request changes
/// nothing. A different reason replaces the flag.
pub async fn handle(
    (table, reader): (Writer, Reader),
    Path(order_id): Path<OrderId>,
    Json(FlagRequest { reason }): Json<FlagRequest>,
    budget: Budget,
) -> Answer<Replayable<Json<FlaggedOrderView>>> {
    let flag = OrderFlag { order_id, reason: reason.into(), flagged_at: Timestamp::now() };

    let is_news = Condition::new("attribute_not_exists(#PK) OR #reason <> :reason").value(":reason", &flag.reason)?;
    let takes_texts = Condition::new("attribute_exists(#PK) AND attribute_not_exists(#erased)");
    let writes = vec![Write::check(Order::key_of(&flag.order_id), takes_texts), Write::set(&flag, is_news)?];
    let Commit::Cancelled(causes) = table.commit(writes, budget).await? else {
        return Ok(Replayable::first(Json(flag.into())));
    };
    match <[Cause; 2]>::try_from(causes) {
        Ok([Cause::None, Cause::Condition(Some(existing))]) => {
            Ok(Replayable::again(Json(read_item::<OrderFlag>(existing)?.into())))
        }
        Ok([Cause::Condition(Some(_)), _]) => {
            Err(Problem::new(Kind::CustomerErased, "The order's customer was erased, so it takes no flag."))
        }
        _ => match reader.order_state(&flag.order_id, budget).await? {
            Some(OrderState::Queued(queued)) if !queued.is_expired(flag.flagged_at) => {
                Err(Problem::not_placed(&queued))
            }
            _ => Err(Problem::not_found("order")),
        },
    }
}
