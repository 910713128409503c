//! `POST /orders`: places an order.

use edge::{Answer, Description, Kind, OrderView, Problem, Reply, Request, Route, Scope};
use key_schema::entity::WholeOrder;
use ordering::{Basket, BasketError, OrderRequest, Orders, PlaceOrder, Placement, Rejection};

pub const ROUTE: Route = Route::post("/orders", Scope::Shop);

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

pub async fn handle(orders: Orders, request: Request) -> Answer {
    let customer = request.caller()?.id.clone();
    let key = request.header(IDEMPOTENCY_KEY)?.ok_or_else(|| {
        Problem::new(Kind::IdempotencyKeyMissing, "Send an Idempotency-Key: the same for each try of one order.")
    })?;
    let basket = Basket::try_from(request.json::<OrderRequest>()?).map_err(not_a_basket)?;
    let order = PlaceOrder { customer, key: key.parse()?, basket };

    match orders.place(&order, request.budget()).await? {
        Placement::Placed(order) => created(order, false),
        Placement::Replayed(order) => created(order, true),
        Placement::Rejected(rejection) => Err(rejected(rejection)),
    }
}

fn created(order: WholeOrder, replayed: bool) -> Answer {
    let location = format!("/orders/{}", order.order.order_id);
    Ok(Reply::created(location, &OrderView::from(order))?.replayed(replayed))
}

fn not_a_basket(error: BasketError) -> Problem {
    match error {
        BasketError::TooLarge(why) => Problem::new(Kind::TooLarge, why),
        BasketError::Invalid(why) => Problem::new(Kind::Validation, why),
    }
}

/// Each way to be refused, by its own type and with what is at fault.
fn rejected(rejection: Rejection) -> Problem {
    match rejection {
        Rejection::UnknownCustomer => {
            Problem::new(Kind::NotFound, "The caller has no customer profile. Sign up first: POST /customers.")
        }
        Rejection::UnknownProduct { line, product } => {
            Problem::not_found("product").with("line", line).with("productId", product)
        }
        Rejection::MixedCurrencies { line } => {
            Problem::new(Kind::Validation, "One order has one currency. Order this line apart.").with("line", line)
        }
        Rejection::TooExpensive => Problem::new(Kind::Validation, "The order's total is beyond any amount of money."),
        Rejection::OutOfStock { line, product, available } => {
            Problem::new(Kind::OutOfStock, format!("Only {available} can be had."))
                .with("line", line)
                .with("productId", product)
                .with("available", available)
        }
        Rejection::PriceChanged { total } => {
            Problem::new(Kind::PriceChanged, "Show the customer the new total and ask again.").with("total", total)
        }
        Rejection::DiscountInvalid(code) => {
            Problem::new(Kind::DiscountInvalid, "There is no such discount code at this time.").with("code", code)
        }
        Rejection::DiscountExhausted(code) => {
            Problem::new(Kind::DiscountExhausted, "The discount code has no uses left.").with("code", code)
        }
        Rejection::GiftCardInvalid(code) => {
            Problem::new(Kind::GiftCardInvalid, "There is no such gift card in the order's currency.")
                .with("code", code)
        }
        Rejection::GiftCardBalance(code) => {
            Problem::new(Kind::GiftCardBalance, "The gift card was spent elsewhere. Look at its balance and ask again.")
                .with("code", code)
        }
        Rejection::KeyReused => Problem::new(
            Kind::IdempotencyKeyReused,
            "This Idempotency-Key belongs to an order with another body. Use a new key for a new order.",
        ),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Place an order.")
        .header(IDEMPOTENCY_KEY, true, "1 to 255 printable ASCII characters; the same for each try of one order.")
        .accepts::<OrderRequest>()
        .creates::<OrderView>()
        .refuses(&[
            Kind::IdempotencyKeyMissing,
            Kind::IdempotencyKeyReused,
            Kind::NotFound,
            Kind::OutOfStock,
            Kind::PriceChanged,
            Kind::DiscountInvalid,
            Kind::DiscountExhausted,
            Kind::GiftCardInvalid,
            Kind::GiftCardBalance,
        ])
}
