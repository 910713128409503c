//! `GET /guests/{guestId}/orders/{orderId}`: one order of a guest.

use http_api::{Answer, Example, Json, Kind, OrderStateView, OwnGuest, Path, Pollable, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::ORDER_BY_ID;
use key_schema::value::OrderId;
use table::{Budget, Reader};

use crate::get_order;

pub const ROUTE: Route = Route::get("/guests/{guestId}/orders/{orderId}", Scope::Public)
    .summary("An order of a guest, like that of a customer.")
    .limit(100, 200)
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(ORDER_BY_ID)])
    .example(
        Example::at("09:54:40")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og/960502a1-88a2-584d-9abe-8ca3e7b0cb4e")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A"),
    );

pub async fn handle(
    deps: (Reader, Urls),
    guest: OwnGuest,
    order: Path<OrderId>,
    budget: Budget,
) -> Answer<Pollable<Json<OrderStateView>>> {
    get_order::handle(deps, order, guest.caller()?, budget).await
}
