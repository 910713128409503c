//! `POST /orders`: places an order, now or later.

use http_api::{Answer, Description, Kind, OrderView, Problem, QueuedOrderView, Reply, Request, Route, Scope};
use key_schema::entity::{QueuedOrder, Rejection, WholeOrder};
use ordering::{Acceptance, Basket, BasketError, Intake, NotAccepted, OrderRequest, Orders, PlaceOrder, Placement};
use table::{Error, Throttle};

pub const ROUTE: Route = Route::post("/orders", Scope::Shop);

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
const RESPOND_ASYNC: &str = "respond-async";

pub async fn handle((orders, intake): (Orders, Intake), request: Request) -> Answer {
    let customer = request.caller()?.id.clone();
    let key = request.header(IDEMPOTENCY_KEY)?.ok_or_else(|| {
        Problem::new(Kind::IdempotencyKeyMissing, "Send an Idempotency-Key: the same for each try of one order.")
    })?;
    let basket = Basket::try_from(request.json::<OrderRequest>()?).map_err(not_a_basket)?;
    let order = PlaceOrder { customer, key: key.parse()?, basket };

    let is_for_later = request.prefers(RESPOND_ASYNC);
    let placement = if is_for_later {
        orders.placed_before(&order, request.budget()).await
    } else {
        orders.place(&order, request.budget()).await.map(Some)
    };
    let placement = match placement {
        // A client that asked to wait needs no look at what was placed before.
        Err(Error::Throttled { by: Throttle::Capacity | Throttle::CapacityOrHotKey, .. }) if is_for_later => None,
        placement => placement?,
    };
    let max_total = match placement {
        Some(Placement::Placed(order)) => return created(order, false),
        Some(Placement::Replayed(order)) => return created(order, true),
        Some(Placement::Rejected(rejection)) => return Err(rejection.into()),
        Some(Placement::NoCapacity { max_total }) => Some(max_total),
        // An order that waits is sent again: whether that was done is written nowhere.
        Some(Placement::Waits(queued)) => queued.max_total,
        Some(Placement::Void | Placement::Stale | Placement::Mismatch | Placement::NotAccepted) | None => None,
    };
    match intake.accept(&order, max_total, request.budget()).await.map_err(not_accepted)? {
        Acceptance::Accepted(order) => accepted(order, is_for_later, false),
        Acceptance::Replayed(order) => accepted(order, is_for_later, true),
        Acceptance::KeyReused => Err(Rejection::KeyReused.into()),
    }
}

fn created(order: WholeOrder, replayed: bool) -> Answer {
    let location = format!("/orders/{}", order.order.order_id);
    Ok(Reply::created(location, &OrderView::from(order))?.replayed(replayed))
}

fn accepted(order: QueuedOrder, preferred: bool, replayed: bool) -> Answer {
    let location = format!("/orders/{}", order.order_id);
    let reply = Reply::accepted(location, &QueuedOrderView::from(order))?.replayed(replayed);
    Ok(if preferred { reply.applied(RESPOND_ASYNC) } else { reply })
}

fn not_a_basket(error: BasketError) -> Problem {
    match error {
        BasketError::TooLarge(why) => Problem::new(Kind::TooLarge, why),
        BasketError::Invalid(why) => Problem::new(Kind::Validation, why),
    }
}

fn not_accepted(error: NotAccepted) -> Problem {
    match error {
        NotAccepted::Table(error) => error.into(),
        NotAccepted::Queue(error @ (queue::Error::Unanswered(_) | queue::Error::Throttled(_))) => {
            Problem::throttled(error)
        }
        NotAccepted::Queue(error @ queue::Error::Refused(_)) => Problem::internal(error),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Place an order.")
        .idempotency_key()
        .prefers_async()
        .accepts::<OrderRequest>()
        .creates::<OrderView>()
        .leads_to("get-order", "orderId", "$response.body#/orderId")
        .leads_to("list-order-products", "orderId", "$response.body#/orderId")
        .leads_to("get-order-invoice", "orderId", "$response.body#/orderId")
        .leads_to("cancel-order", "orderId", "$response.body#/orderId")
        .leads_to("flag-order", "orderId", "$response.body#/orderId")
        .leads_to("change-order-status", "orderId", "$response.body#/orderId")
        .leads_to("capture-payment", "invoiceId", "$response.body#/invoice/invoiceId")
        .leads_to("confirm-refund", "invoiceId", "$response.body#/invoice/invoiceId")
        .leads_to("get-invoice", "invoiceId", "$response.body#/invoice/invoiceId")
        .leads_to("list-invoice-payments", "invoiceId", "$response.body#/invoice/invoiceId")
        .queues::<QueuedOrderView>()
        .leads_to("get-order", "orderId", "$response.body#/orderId")
        .refuses(&[
            Kind::NotFound,
            Kind::OutOfStock,
            Kind::PriceChanged,
            Kind::DiscountInvalid,
            Kind::DiscountExhausted,
            Kind::GiftCardInvalid,
            Kind::GiftCardBalance,
        ])
}
