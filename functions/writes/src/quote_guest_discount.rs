//! `POST /guests/quotes/discounted`: what an order with discount codes would cost somebody without an account. It writes
//! nothing.

use http_api::{Answer, Example, Json, Kind, QuoteView, Route, Scope};
use key_schema::entity::{Destination, NewDestination};
use key_schema::value::{DiscountCode, ShippingMethodId};
use ordering::{NewOrder, Quotes, RequestedLine, ShipTo};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::quote_guest_basket::{REFUSES, answer};

/// Strangers can guess discount codes here no faster than by orders of guests.
pub const ROUTE: Route = Route::post("/guests/quotes/discounted", Scope::Public)
    .summary(
        "Answer what an order with discount codes would cost somebody without an account, like `POST /guests/quotes`. The \
         limit is lower, because codes can be guessed.",
    )
    .limit(2, 4)
    .refuses(REFUSES)
    .refuses(&[Kind::DiscountInvalid, Kind::DiscountExhausted])
    .access(ordering::QUOTE)
    .access(ordering::QUOTE_CODES)
    .grants(&[ordering::READ_TAX_SECRET])
    .example(Example::at("09:34:37").body(
        r#"{
            "lines": [{"productId": "espresso-cup", "quantity": 4}],
            "discountCode": "WELCOME10",
            "shipTo": {"country": "DE", "postalCode": "10115"}
        }"#,
    ));

/// What somebody without an account may order with discount codes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscountedGuestBasket {
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
    /// The method of shipping, of those that a quote lists. Without one, the quote has the first of them.
    shipping_method: Option<ShippingMethodId>,
}

pub async fn handle(
    quotes: Quotes,
    Json(basket): Json<DiscountedGuestBasket>,
    budget: Budget,
) -> Answer<Json<QuoteView>> {
    let DiscountedGuestBasket { lines, discount_code, discount_codes, ship_to, shipping_method } = basket;
    let ship_to = ship_to.map(ShipTo::Destination);
    let order = NewOrder { lines, discount_code, discount_codes, ship_to, shipping_method, ..NewOrder::default() };
    answer(&quotes, order, budget).await
}
