//! `POST /guests/quotes`: what an order would cost somebody without an account. It writes nothing.

use http_api::{Answer, Example, Json, Kind, QuoteView, Route, Scope};
use key_schema::entity::{Destination, NewDestination};
use key_schema::value::DiscountCode;
use ordering::{Basket, NewOrder, Quotes, RequestedLine, ShipTo};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::guests::are_few;
use crate::place_order::not_a_basket;
use crate::quote_basket;

/// Strangers can guess discount codes here no faster than by orders of guests. Gift cards change no total, so the route
/// takes none, and tells no balance.
pub const ROUTE: Route = Route::post("/guests/quotes", Scope::Public)
    .summary(
        "Answer what an order would cost somebody without an account, without placing it: at most 10 lines. The total is \
         that of an order of a guest or of a customer to the same destination.",
    )
    .limit(2, 4)
    .refuses(&[
        Kind::NotFound,
        Kind::OutOfStock,
        Kind::ProductRecalled,
        Kind::NotShipped,
        Kind::DiscountInvalid,
        Kind::DiscountExhausted,
    ])
    .access(ordering::QUOTE)
    .grants(&[ordering::READ_TAX_SECRET])
    .example(Example::at("09:34:35").body(
        r#"{
            "lines": [{"productId": "espresso-cup", "quantity": 4}],
            "discountCode": "WELCOME10",
            "shipTo": {"country": "DE", "postalCode": "10115"}
        }"#,
    ));

/// What somebody without an account may order.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GuestBasket {
    /// The products: 1 to 10 lines, each with a different product.
    #[schema(min_items = 1, max_items = 10)]
    lines: Vec<RequestedLine>,
    /// A discount code. A basket with several has `discountCodes` instead.
    discount_code: Option<DiscountCode>,
    /// The discount codes, at most 3, instead of `discountCode`.
    #[serde(default)]
    #[schema(max_items = 3)]
    discount_codes: Vec<DiscountCode>,
    /// The destination. Without one, the quote has no shipping, as an order without an address.
    #[schema(value_type = Option<NewDestination>)]
    ship_to: Option<Destination>,
}

pub async fn handle(quotes: Quotes, Json(basket): Json<GuestBasket>, budget: Budget) -> Answer<Json<QuoteView>> {
    let GuestBasket { lines, discount_code, discount_codes, ship_to } = basket;
    are_few(&lines)?;
    let ship_to = ship_to.map(ShipTo::Destination);
    let order = NewOrder { lines, discount_code, discount_codes, ship_to, ..NewOrder::default() };
    let basket = Basket::try_from(order).map_err(not_a_basket)?;
    quote_basket::answer(quotes.for_anybody(&basket, budget).await?)
}
