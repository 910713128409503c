//! `POST /guests/{guestId}/orders`: places an order of a guest.

use http_api::{Answer, Example, Json, Kind, OwnGuest, Problem, Replayable, Route, Scope};
use images::Urls;
use key_schema::entity::NewAddress;
use key_schema::value::{DiscountCode, GiftCardCode, IdempotencyKey, Money, ShippingMethodId};
use ordering::{
    Basket, GuestOrders, Guests, NewOrder, OrderRequest, PlacingOutcome, RequestedLine, ShipTo, WaitingRoom,
};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::guests::{are_few, are_served};
use crate::place_order::{self, Placed};

pub const ROUTE: Route = Route::post("/guests/{guestId}/orders", Scope::Public)
    .summary("Place an order of a guest: at most 10 lines. The guest's first order keeps the guest for good.")
    .limit(2, 4)
    .refuses(place_order::REFUSES)
    .refuses(&[Kind::Forbidden])
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

/// An order as a guest sends it.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGuestOrder {
    /// The products to buy: 1 to 10 lines, each with a different product.
    #[schema(min_items = 1, max_items = 10)]
    lines: Vec<RequestedLine>,
    /// A discount code. An order with several has `discountCodes` instead.
    discount_code: Option<DiscountCode>,
    /// The gift cards to pay with, in this order. The bank card pays the rest. At most 4.
    #[serde(default)]
    #[schema(max_items = 4)]
    gift_cards: Vec<GiftCardCode>,
    /// The total that the guest was shown. If the order comes to another total, it is refused.
    expected_total: Option<Money>,
    /// The most that may be charged to the bank card.
    max_card_amount: Option<Money>,
    /// The address to which the order is shipped. If the shop has shipping rates, an order with an address pays for its
    /// shipping.
    #[schema(value_type = Option<NewAddress>)]
    ship_to: Option<ShipTo>,
    /// The discount codes, at most 3, instead of `discountCode`.
    #[serde(default)]
    #[schema(max_items = 3)]
    discount_codes: Vec<DiscountCode>,
    /// The method of shipping, of those that a quote lists. Without one, the order has the first of them.
    shipping_method: Option<ShippingMethodId>,
}

/// A guest has no cart, and does not pay later.
impl From<NewGuestOrder> for NewOrder {
    fn from(order: NewGuestOrder) -> Self {
        let NewGuestOrder {
            lines,
            discount_code,
            gift_cards,
            expected_total,
            max_card_amount,
            ship_to,
            discount_codes,
            shipping_method,
        } = order;
        Self {
            lines,
            discount_code,
            gift_cards,
            expected_total,
            max_card_amount,
            ship_to,
            discount_codes,
            shipping_method,
            ..Self::default()
        }
    }
}

/// A guest's order never waits in the queue: the queue is of customers, and its length opens the waiting room. While
/// customers wait, and while there is no capacity, the guest is asked to come again. A shop that serves guests no more still
/// answers the repetition of a request whose order it has placed.
pub async fn handle(
    (GuestOrders(orders), waiting_room, guests, urls): (GuestOrders, WaitingRoom, Guests, Urls),
    guest: OwnGuest,
    key: IdempotencyKey,
    Json(order): Json<NewGuestOrder>,
    budget: Budget,
) -> Answer<Placed> {
    let customer = guest.caller()?.id;
    are_few(&order.lines)?;
    let under = format!("/guests/{customer}");
    let basket = Basket::try_from(NewOrder::from(order)).map_err(place_order::not_a_basket)?;
    let request = OrderRequest { customer, key, basket };
    let is_welcome = guests.0 && waiting_room.wait(&request.basket).await.is_none();
    let outcome = if is_welcome {
        Some(orders.place_unless_crowded(&request, budget).await?)
    } else {
        orders.placed_before(&request, budget).await?
    };
    match outcome {
        Some(PlacingOutcome::Placed(order)) => Ok(place_order::placed(order, (&under, &urls), Replayable::first)),
        Some(PlacingOutcome::Replayed(order)) => Ok(place_order::placed(order, (&under, &urls), Replayable::again)),
        Some(PlacingOutcome::Rejected(rejection)) => Err(Problem::rejected(rejection)),
        Some(PlacingOutcome::Untaxed(untaxed)) => Err(untaxed.into()),
        _ => are_served(guests)
            .and_then(|()| Err(Problem::throttled("customers wait in the queue, or there is no capacity"))),
    }
}
