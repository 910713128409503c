//! `POST /orders`: places an order, at once or through the queue.

use http_api::{
    Accepted, Answer, Caller, Created, Either, Example, Json, Kind, OrderView, PrefersAsync, Problem, QueuedOrderView,
    Replayable, Route, Scope,
};
use images::Urls;
use key_schema::access::Access;
use key_schema::entity::{QueuedOrder, Rejection, WholeOrder};
use key_schema::value::IdempotencyKey;
use ordering::{
    Acceptance, Basket, BasketError, Intake, NewOrder, NotAccepted, OrderRequest, Orders, PayLater, PlacingOutcome,
    WaitingRoom,
};
use table::{Budget, Error};

use crate::quote_basket::pay_later_is_offered;

/// The problems of an order that cannot be placed, whoever orders.
pub(crate) const REFUSES: &[Kind] = &[
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
];

/// The functions that read what an order writes.
pub(crate) const READERS_OF_ORDERS: &[&str] = &[
    "count-orders",
    "drain-writes",
    "expire-orders",
    "list-open-returns",
    "list-orders",
    "list-payments-due",
    "list-product-orders",
    "number-invoices",
    "reconcile-counts",
    "settle-payments",
];

pub const ROUTE: Route = Route::post("/orders", Scope::Shop)
    .summary("Place an order.")
    .refuses(REFUSES)
    .refuses(&[Kind::CartChanged])
    .access(ordering::PLACE)
    .access(ordering::PLACE_FOR_CUSTOMER)
    .access(&[Access::put::<QueuedOrder>()])
    .grants(&[ordering::ENQUEUE, ordering::READ_TAX_SECRET])
    .concurrency("OrderConcurrency")
    .after(READERS_OF_ORDERS)
    .example(Example::at("09:34:40").header("idempotency-key", "story-1").body(
        r#"{
            "lines": [{"productId": "espresso-cup", "quantity": 4}],
            "discountCode": "WELCOME10",
            "giftCards": ["GIFT-50-7QKX-M2TD"],
            "expectedTotal": {"amount": 7196, "currency": "EUR"}
        }"#,
    ));

/// The dependencies of the routes that place orders.
#[derive(Clone)]
pub struct Deps {
    orders: Orders,
    intake: Intake,
    waiting_room: WaitingRoom,
    pay_later: PayLater,
    urls: Urls,
}

lambda::from_environment!(Deps { orders, intake, waiting_room, pay_later, urls });

pub(crate) type Placed = Created<Json<OrderView>>;
type Waiting = Accepted<Json<QueuedOrderView>>;

pub async fn handle(
    Deps { orders, intake, waiting_room, pay_later, urls }: Deps,
    caller: Caller,
    key: IdempotencyKey,
    PrefersAsync(prefers_later): PrefersAsync,
    Json(order): Json<NewOrder>,
    budget: Budget,
) -> Answer<Either<Placed, Waiting>> {
    pay_later_is_offered(&order, pay_later)?;
    let basket = Basket::try_from(order).map_err(not_a_basket)?;
    let request = OrderRequest { customer: caller.id, key, basket };
    let wait = waiting_room.wait(&request.basket).await;
    // Requests with `expectedTotal` skip the quote: reading the product would delay the orders that wait already.
    let is_for_later = prefers_later || wait.is_some() && request.basket.order().expected_total.is_some();
    let outcome = if is_for_later {
        orders.placed_before(&request, budget).await
    } else if wait.is_some() {
        orders.quote(&request, budget).await.map(Some)
    } else if waiting_room.is_there() {
        orders.place_unless_crowded(&request, budget).await.map(Some)
    } else {
        orders.place(&request, budget).await.map(Some)
    };
    let outcome = match outcome {
        // The order can be queued without knowing whether it was placed before: the drain finds that out.
        Err(Error::Throttled { by, .. }) if is_for_later && by.is_of_capacity() => None,
        outcome => outcome?,
    };
    let max_total = match outcome {
        Some(PlacingOutcome::Placed(order)) => return Ok(Either::A(placed(order, ("", &urls), Replayable::first))),
        Some(PlacingOutcome::Replayed(order)) => return Ok(Either::A(placed(order, ("", &urls), Replayable::again))),
        Some(PlacingOutcome::Rejected(rejection)) => return Err(Problem::rejected(rejection)),
        Some(PlacingOutcome::Untaxed(untaxed)) => return Err(untaxed.into()),
        Some(PlacingOutcome::Waits { max_total }) => Some(max_total),
        // The order is queued already. Its message is sent again, because the earlier one may be lost.
        Some(PlacingOutcome::AlreadyQueued(queued)) => queued.max_total,
        Some(
            PlacingOutcome::RefusedBefore
            | PlacingOutcome::OtherAcceptance
            | PlacingOutcome::Mismatch
            | PlacingOutcome::NotAccepted,
        )
        | None => None,
    };
    let acceptance = intake.accept(&request, max_total, budget).await.map_err(not_accepted)?;
    let (queued, answer): (_, fn(_) -> _) = match acceptance {
        Acceptance::Accepted(queued) => (queued, Replayable::first),
        Acceptance::Replayed(queued) => (queued, Replayable::again),
        Acceptance::KeyReused => return Err(Problem::rejected(Rejection::KeyReused)),
    };
    let location = format!("/orders/{}", queued.order_id);
    let preference = prefers_later.then_some(PrefersAsync::NAME);
    Ok(Either::B(Accepted { location, preference, wait, answer: answer(Json(queued.into())) }))
}

/// The answer. The path of the order is `/orders/{orderId}` after `under`.
pub(crate) fn placed(
    order: WholeOrder,
    (under, urls): (&str, &Urls),
    answer: fn(Json<OrderView>) -> Replayable<Json<OrderView>>,
) -> Placed {
    let location = format!("{under}/orders/{}", order.order.order_id);
    Created { location, answer: answer(Json(OrderView::of_customer(order, urls))) }
}

pub(crate) fn not_a_basket(error: BasketError) -> Problem {
    match error {
        BasketError::TooLarge(why) => Problem::new(Kind::TooLarge, why),
        BasketError::Invalid(why) => Problem::new(Kind::Validation, why),
    }
}

fn not_accepted(error: NotAccepted) -> Problem {
    match error {
        NotAccepted::Table(error) => error.into(),
        NotAccepted::Queue(error) => error.into(),
    }
}
