//! `POST /guests/{guestId}/orders/{orderId}/returns`: requests the return of units of a guest's delivered order.

use http_api::{Answer, Created, Example, Json, Kind, OwnGuest, Path, ReturnView, Route, Scope};
use key_schema::value::{IdempotencyKey, OrderId};
use ordering::{Lifecycle, Withdrawal};
use table::Budget;

use crate::request_return::{self, NewReturn};

pub const ROUTE: Route = Route::post("/guests/{guestId}/orders/{orderId}/returns", Scope::Public)
    .summary("Request the return of units of a guest's delivered order, like a customer. The order shows its returns.")
    .limit(5, 10)
    .refuses(&[Kind::NotFound, Kind::InvalidTransition, Kind::TooFewUnits, Kind::WithdrawalOver])
    .access(ordering::REQUEST_RETURN)
    .example(
        Example::at("09:55:30")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og/b7e55972-9be9-5a4c-9b03-853fee68d72f")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A")
            .header("idempotency-key", "return-1")
            .body(r#"{"lines":[{"productId":"espresso-cup","quantity":1}]}"#),
    );

pub async fn handle(
    deps: (Lifecycle, Withdrawal),
    guest: OwnGuest,
    order: Path<OrderId>,
    key: IdempotencyKey,
    request: Json<NewReturn>,
    budget: Budget,
) -> Answer<Created<Json<ReturnView>>> {
    let caller = guest.caller()?;
    let location = format!("/guests/{}/orders/{}", caller.id, order.0);
    let Created { answer, .. } = request_return::handle(deps, order, caller, key, request, budget).await?;
    Ok(Created { location, answer })
}
