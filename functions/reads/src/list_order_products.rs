//! `GET /orders/{orderId}/products`: the lines of an order.

use http_api::{All, Answer, Caller, Example, Kind, OrderItemView, Path, Problem, Query, Route, Scope, Unfiltered};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::{ORDER_BY_ID, PRODUCTS_OF_ORDER};
use key_schema::value::OrderId;
use table::{Budget, Reader};

use crate::owner;

pub const ROUTE: Route = Route::get("/orders/{orderId}/products", Scope::Shop)
    .summary("The lines of an order, in the order of the request.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced])
    .access(&[Access::query(PRODUCTS_OF_ORDER), Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:36:00").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// All lines are in one page: the table has them by product id. Each line names the customer of its order.
pub async fn handle(
    (table, urls): (Reader, Urls),
    Path(order): Path<OrderId>,
    Query(Unfiltered {}): Query<Unfiltered>,
    caller: Caller,
    budget: Budget,
) -> Answer<All<OrderItemView>> {
    let mut lines = table.collection(&PRODUCTS_OF_ORDER.ask(&order)).await?;
    lines.sort_by_key(|line| line.position);
    match lines.first() {
        Some(line) if table.may_access(caller.customer(), &line.customer_id).await? => {
            Ok(All(lines.into_iter().map(|line| OrderItemView::new(line, &urls)).collect()))
        }
        // It may be in the queue.
        _ => match owner::placed(&table, &order, &caller, budget).await {
            Ok(_) => Err(Problem::throttled("the order was placed in this moment")),
            Err(problem) => Err(problem),
        },
    }
}
