//! `POST /guests/{guestId}/orders`: places an order of a guest.

use http_api::{Answer, Example, Json, Kind, OwnGuest, Problem, Replayable, Route, Scope};
use key_schema::value::IdempotencyKey;
use ordering::{Basket, Guests, MOST_GUEST_LINES, NewOrder, OrderRequest, Orders, PlacingOutcome, WaitingRoom};
use table::Budget;

use crate::guests::are_served;
use crate::place_order::{self, Placed};

pub const ROUTE: Route = Route::post("/guests/{guestId}/orders", Scope::Public)
    .summary("Place an order of a guest: at most 10 lines. The guest's first order keeps the guest for good.")
    .limit(2, 4)
    .refuses(&[
        Kind::Forbidden,
        Kind::NotFound,
        Kind::OpenUnits,
        Kind::OutOfStock,
        Kind::ProductRecalled,
        Kind::PriceChanged,
        Kind::NotShipped,
        Kind::DiscountInvalid,
        Kind::DiscountExhausted,
        Kind::GiftCardInvalid,
        Kind::GiftCardBalance,
    ])
    .access(ordering::PLACE)
    .access(ordering::PLACE_FOR_GUEST)
    .grants(&[ordering::SEE_WAITING_ROOM, ordering::READ_TAX_SECRET])
    .concurrency("GuestOrderConcurrency")
    .after(place_order::READERS_OF_ORDERS)
    .example(
        Example::at("09:54:20")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A")
            .header("idempotency-key", "guest-1")
            .body(r#"{"lines": [{"productId": "espresso-cup", "quantity": 2}]}"#),
    );

/// A guest's order never waits in the queue: the queue is of customers, and its length opens the waiting room. While
/// customers wait, and while there is no capacity, the guest is asked to come again.
pub async fn handle(
    (orders, waiting_room, guests): (Orders, WaitingRoom, Guests),
    guest: OwnGuest,
    key: IdempotencyKey,
    Json(order): Json<NewOrder>,
    budget: Budget,
) -> Answer<Placed> {
    are_served(guests)?;
    let customer = guest.caller()?.id;
    if order.pay_later {
        return Err(Problem::invalid("payLater: only customers with an account may pay later"));
    }
    if order.cart.is_some() {
        return Err(Problem::invalid("cart: guests have no carts"));
    }
    if order.lines.len() > MOST_GUEST_LINES {
        return Err(Problem::new(Kind::TooLarge, format!("lines: an order of a guest has at most {MOST_GUEST_LINES}")));
    }
    let under = format!("/guests/{customer}");
    let basket = Basket::try_from(order).map_err(place_order::not_a_basket)?;
    let request = OrderRequest { customer, key, basket };
    let outcome = match waiting_room.wait(&request.basket).await {
        Some(_) => orders.placed_before(&request, budget).await?,
        None => Some(orders.place(&request, budget).await?),
    };
    match outcome {
        Some(PlacingOutcome::Placed(order)) => Ok(place_order::placed(order, &under, Replayable::first)),
        Some(PlacingOutcome::Replayed(order)) => Ok(place_order::placed(order, &under, Replayable::again)),
        Some(PlacingOutcome::Rejected(rejection)) => Err(Problem::rejected(rejection)),
        Some(PlacingOutcome::Untaxed(untaxed)) => Err(untaxed.into()),
        _ => Err(Problem::throttled("customers wait in the queue, or there is no capacity")),
    }
}
