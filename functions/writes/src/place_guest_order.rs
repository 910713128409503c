//! `POST /guests/{guestId}/orders`: places an order of a guest, at once or through the queue.

use http_api::{Answer, Either, Example, Json, OwnGuest, PrefersAsync, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::QueuedOrder;
use key_schema::value::IdempotencyKey;
use ordering::NewOrder;
use table::Budget;

use crate::place_order::{self, Deps, Placed, Waiting};

pub const ROUTE: Route = Route::post("/guests/{guestId}/orders", Scope::Public)
    .summary("Place an order of a guest. The guest's first order keeps the guest for good.")
    .limit(50, 100)
    .refuses(place_order::REFUSES)
    .access(ordering::PLACE)
    .access(ordering::PLACE_FOR_GUEST)
    .access(&[Access::put::<QueuedOrder>()])
    .grants(&[ordering::ENQUEUE, ordering::READ_TAX_SECRET])
    .after(place_order::READERS_OF_ORDERS)
    .example(
        Example::at("09:54:20")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A")
            .header("idempotency-key", "guest-1")
            .body(r#"{"lines": [{"productId": "espresso-cup", "quantity": 2}]}"#),
    );

pub async fn handle(
    deps: Deps,
    guest: OwnGuest,
    key: IdempotencyKey,
    prefers: PrefersAsync,
    Json(order): Json<NewOrder>,
    budget: Budget,
) -> Answer<Either<Placed, Waiting>> {
    let guest = guest.caller()?;
    if order.pay_later {
        return Err(Problem::invalid("payLater: only customers with an account may pay later"));
    }
    if order.cart.is_some() {
        return Err(Problem::invalid("cart: guests have no carts"));
    }
    let under = format!("/guests/{}", guest.id);
    place_order::place(deps, (guest.id, key), prefers, order, &under, budget).await
}
