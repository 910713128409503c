//! `GET /customers/{customerId}/orders`: the orders of a customer, newest first.

use http_api::{Answer, Description, Kind, OrderView, Reply, Request, Route, Scope};
use key_schema::layout::OrdersOfCustomer;
use key_schema::value::TimeRange;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/orders", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let customer = request.own_customer()?;
    let (placed, page) = request.list()?;
    let page = table.page(&OrdersOfCustomer { customer: &customer, placed }, &page).await?;
    Reply::ok(&page.map(OrderView::from))
}

pub fn describe() -> Description {
    ROUTE
        .describe("The orders of a customer in a range of time, newest first.")
        .lists::<TimeRange, OrderView>()
        .refuses(&[Kind::NotFound])
}
