//! `GET /orders/{orderId}/products`: the lines of an order.

use http_api::{Answer, Caller, Example, Kind, List, OrderItemView, Path, Problem, Route, Scope, Unfiltered};
use key_schema::access::Access;
use key_schema::layout::{INVOICE_OF_ORDER, ORDER_BY_ID, PRODUCTS_OF_ORDER};
use key_schema::page::Page;
use key_schema::value::OrderId;
use table::{Budget, Reader};

use crate::owner;

pub const ROUTE: Route = Route::get("/orders/{orderId}/products", Scope::Shop)
    .summary("The lines of an order, sorted by product id.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced])
    .access(&[Access::query(PRODUCTS_OF_ORDER), Access::query(INVOICE_OF_ORDER), Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:36:00").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// Each line names the customer of its order. The page after a full last page has no lines, so the customer is then
/// read from the invoice.
pub async fn handle(
    table: Reader,
    Path(order): Path<OrderId>,
    List(Unfiltered {}, page): List<Unfiltered>,
    caller: Caller,
    budget: Budget,
) -> Answer<Page<OrderItemView>> {
    let lines = table.page(&PRODUCTS_OF_ORDER.ask(&order), &page).await?;

    let owner = match lines.items.first() {
        Some(line) => Some(line.customer_id.clone()),
        None => table.one(&INVOICE_OF_ORDER.ask(&order)).await?.map(|invoice| invoice.customer_id),
    };
    match owner {
        Some(owner) if table.may_access(caller.customer(), &owner).await? => Ok(lines.map(OrderItemView::from)),
        // It may be in the queue.
        _ => match owner::placed(&table, &order, &caller, budget).await {
            Ok(_) => Err(Problem::throttled("the order was placed in this moment")),
            Err(problem) => Err(problem),
        },
    }
}
