//! `POST /guests/quotes`: what an order would cost somebody without an account. It writes nothing.

use http_api::{Answer, Example, Json, Kind, QuoteView, Route, Scope};
use key_schema::entity::{Destination, NewDestination};
use key_schema::value::ShippingMethodId;
use ordering::{Basket, NewOrder, Quotes, RequestedLine, ShipTo};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::guests::are_few;
use crate::place_order::not_a_basket;
use crate::quote_basket;

/// The problems of a basket without codes.
pub(crate) const REFUSES: &[Kind] = &[Kind::NotFound, Kind::OutOfStock, Kind::ProductRecalled, Kind::NotShipped];

/// By its limit, strangers who ask for all cells of ten products use a tenth of what a new account can read. There is nothing
/// to guess: discount codes have a route with a lower limit, and gift cards, which change no total, none.
pub const ROUTE: Route = Route::post("/guests/quotes", Scope::Public)
    .summary(
        "Answer what an order would cost somebody without an account, without placing it: at most 10 lines. The total is \
         that of an order of a guest or of a customer to the same destination.",
    )
    .limit(7, 14)
    .refuses(REFUSES)
    .access(ordering::QUOTE)
    .grants(&[ordering::READ_TAX_SECRET])
    .example(Example::at("09:34:35").body(
        r#"{
            "lines": [{"productId": "espresso-cup", "quantity": 4}],
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
    /// The destination. Without one, the quote has no shipping, as an order without an address.
    #[schema(value_type = Option<NewDestination>)]
    ship_to: Option<Destination>,
    /// The method of shipping, of those that a quote lists. Without one, the quote has the first of them.
    shipping_method: Option<ShippingMethodId>,
}

pub async fn handle(quotes: Quotes, Json(basket): Json<GuestBasket>, budget: Budget) -> Answer<Json<QuoteView>> {
    let GuestBasket { lines, ship_to, shipping_method } = basket;
    let ship_to = ship_to.map(ShipTo::Destination);
    answer(&quotes, NewOrder { lines, ship_to, shipping_method, ..NewOrder::default() }, budget).await
}

/// The answer to a basket, with or without codes.
pub(crate) async fn answer(quotes: &Quotes, order: NewOrder, budget: Budget) -> Answer<Json<QuoteView>> {
    are_few(&order.lines)?;
    let basket = Basket::try_from(order).map_err(not_a_basket)?;
    quote_basket::answer(quotes.for_anybody(&basket, budget).await?)
}
