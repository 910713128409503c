//! `POST /orders/{orderId}/cancellation`: cancels an order, or some units of it, and returns what they took.

use http_api::{Answer, Caller, Example, Json, Kind, OptionalJson, OrderView, Path, Replayable, Route, Scope};
use images::Urls;
use key_schema::entity::CancellationCause;
use key_schema::value::{Name, OrderId};
use ordering::steps::{Cancel, Transition};
use ordering::{Lifecycle, RequestedLine, Target};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::{changed, units};

pub const ROUTE: Route = Route::post("/orders/{orderId}/cancellation", Scope::Shop)
    .summary(
        "Cancel an order that is not shipped yet. The stock, the use of a discount code and the gift card money that \
             it took are returned. Its card payment is voided, or becomes refundDue if it was captured. With lines, only \
             their units are cancelled, and each payment has its share back; discounts and the price of shipping hold as \
             ordered, also if the units that are left would not have had them.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition, Kind::TooFewUnits])
    .access(ordering::CANCEL)
    .access(ordering::CANCEL_UNITS)
    .access(table::MAY_ACCESS)
    .example(
        Example::at("09:52:00").path("9375d7e6-a688-5d10-8541-7fecc5582493").body(r#"{"reason":"Ordered too many"}"#),
    );

/// The cancellation of an order.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    /// The reason. It is kept if the order is cancelled as a whole.
    reason: Option<Name>,
    /// For each product, the number of units that are cancelled in the end, those cancelled before included. So the same
    /// request again cancels no more. If all units of the order are named, or `lines` is absent, the order is cancelled.
    #[schema(min_items = 1, max_items = 40)]
    lines: Option<Vec<RequestedLine>>,
}

pub async fn handle(
    (orders, urls): (Lifecycle, Urls),
    Path(id): Path<OrderId>,
    caller: Caller,
    OptionalJson(CancelRequest { reason, lines }): OptionalJson<CancelRequest>,
    budget: Budget,
) -> Answer<Replayable<Json<OrderView>>> {
    let reason = reason.map(String::from);

    let cause = if caller.is_admin { CancellationCause::Staff } else { CancellationCause::Customer };
    let cancel = Cancel { cause, reason: reason.as_deref() };
    let lines = lines.map(units::of).transpose()?;
    let change = match &lines {
        None => Transition::Cancel(cancel),
        Some(lines) => Transition::CancelUnits { lines, cancel },
    };
    let cancelled = orders.change(Target::OrderSeenBy(&id, caller.customer()), change, budget).await?;
    changed::answer(cancelled, "order", |order| Ok(OrderView::seen_by(&caller, order, &urls)))
}
