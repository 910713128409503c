//! `POST /guests/{guestId}/orders/{orderId}/cancellation`: cancels an order of a guest, or some units of it.

use http_api::{Answer, Example, Json, Kind, OptionalJson, OrderView, OwnGuest, Path, Replayable, Route, Scope};
use images::Urls;
use key_schema::value::OrderId;
use ordering::Lifecycle;
use table::Budget;

use crate::cancel_order::{self, CancelRequest};

pub const ROUTE: Route = Route::post("/guests/{guestId}/orders/{orderId}/cancellation", Scope::Public)
    .summary("Cancel an order of a guest, or some units of it, like that of a customer.")
    .limit(5, 10)
    .refuses(&[Kind::NotFound, Kind::InvalidTransition, Kind::TooFewUnits])
    .access(ordering::CANCEL)
    .access(ordering::CANCEL_UNITS)
    .example(
        Example::at("09:55:20")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og/960502a1-88a2-584d-9abe-8ca3e7b0cb4e")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A")
            .body(r#"{"reason":"Ordered twice"}"#),
    );

pub async fn handle(
    deps: (Lifecycle, Urls),
    guest: OwnGuest,
    order: Path<OrderId>,
    request: OptionalJson<CancelRequest>,
    budget: Budget,
) -> Answer<Replayable<Json<OrderView>>> {
    cancel_order::handle(deps, order, guest.caller()?, request, budget).await
}
