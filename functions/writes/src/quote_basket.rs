//! `POST /quotes`: what an order would cost. It writes nothing.

use http_api::{Answer, Caller, CodeUseView, Example, Json, Kind, Problem, QuoteView, QuotedPaymentView, Route, Scope};
use ordering::{Basket, MaxOpenUnits, NewOrder, NotQuoted, PayLater, Quote, Quotes};
use table::Budget;

use crate::place_order::{REFUSES, not_a_basket};

pub const ROUTE: Route = Route::post("/quotes", Scope::Shop)
    .summary("Answer what an order would cost, without placing it.")
    .limit(20, 40)
    .refuses(REFUSES)
    .refuses(&[Kind::CartChanged])
    .access(ordering::QUOTE)
    .access(ordering::QUOTE_CODES)
    .access(ordering::QUOTE_FOR_CUSTOMER)
    .grants(&[ordering::READ_TAX_SECRET])
    .example(Example::at("09:34:30").body(
        r#"{
            "lines": [{"productId": "espresso-cup", "quantity": 4}],
            "discountCode": "WELCOME10",
            "giftCards": ["GIFT-50-7QKX-M2TD"],
            "shipTo": {"addressId": "home"}
        }"#,
    ));

/// The body is that of an order. The quote is computed by the same arithmetic as the order, from eventually consistent
/// reads, and reserves nothing.
pub async fn handle(
    (quotes, max_open_units, pay_later): (Quotes, MaxOpenUnits, PayLater),
    caller: Caller,
    Json(order): Json<NewOrder>,
    budget: Budget,
) -> Answer<Json<QuoteView>> {
    pay_later_is_offered(&order, pay_later)?;
    let basket = Basket::try_from(order).map_err(not_a_basket)?;
    answer(quotes.for_customer(&caller.id, max_open_units, &basket, budget).await?)
}

/// The answer to anybody who asked.
pub(crate) fn answer(quote: Result<Quote, NotQuoted>) -> Answer<Json<QuoteView>> {
    let quote = quote.map_err(|why| match why {
        NotQuoted::Rejected(rejection) => Problem::rejected(rejection),
        NotQuoted::Untaxed(untaxed) => untaxed.into(),
    })?;
    let Quote {
        lines,
        subtotal,
        discount,
        codes,
        shipping,
        shipping_method,
        shipping_methods,
        tax,
        total,
        payments,
        address: _,
        shipping_tax: _,
    } = quote;
    let lines = lines.into_iter().map(Into::into).collect();
    let discounts = CodeUseView::of_several(codes);
    let payments = payments.into_iter().map(QuotedPaymentView::from).collect();
    Ok(Json(QuoteView {
        lines,
        subtotal,
        discount,
        discounts,
        shipping,
        shipping_method,
        shipping_methods,
        tax,
        total,
        payments,
    }))
}

/// Refuses an order that is paid later, if the shop takes none.
pub(crate) fn pay_later_is_offered(order: &NewOrder, pay_later: PayLater) -> Answer<()> {
    if order.pay_later && !pay_later.is_offered() {
        return Err(Problem::invalid("payLater: this shop takes no orders that are paid later"));
    }
    Ok(())
}
