//! `POST /guests/{guestId}/orders/{orderId}/payment`: starts the card payment of a guest's order, or resumes it.

use http_api::{Answer, Example, Json, Kind, OptionalJson, OwnGuest, Path, PaymentIntentView, Route, Scope};
use key_schema::value::OrderId;
use payments::Cashier;
use table::{Budget, Reader};

use crate::start_payment::{self, Start};

pub const ROUTE: Route = Route::post("/guests/{guestId}/orders/{orderId}/payment", Scope::Public)
    .summary("Start the card payment of a guest's order, or resume it, like that of a customer's order.")
    .limit(10, 20)
    .refuses(&[Kind::NotFound, Kind::InvalidTransition, Kind::AmountTooSmall])
    .access(ordering::START_PAYMENT)
    .access(ordering::OBSERVE_PAYMENT)
    .grants(&[payments::READ_SECRET])
    .example(
        Example::at("09:55:00")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og/960502a1-88a2-584d-9abe-8ca3e7b0cb4e")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A"),
    );

pub async fn handle(
    deps: (Reader, Cashier),
    guest: OwnGuest,
    order: Path<OrderId>,
    start: OptionalJson<Start>,
    budget: Budget,
) -> Answer<Json<PaymentIntentView>> {
    Box::pin(start_payment::handle(deps, order, guest.caller()?, start, budget)).await
}
