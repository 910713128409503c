//! `GET /customers/{customerId}/products`: the products a customer ordered in a range of time.

use http_api::{Answer, Description, Kind, OrderItemView, Reply, Request, Route, Scope};
use key_schema::layout::ProductsOfCustomer;
use key_schema::value::TimeRange;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/products", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let customer = request.own_customer()?;
    let (placed, page) = request.list()?;
    let lines = table.page(&ProductsOfCustomer { customer: &customer, placed }, &page).await?;
    Reply::ok(&lines.map(OrderItemView::from))
}

pub fn describe() -> Description {
    ROUTE
        .describe("The products a customer ordered in a range of time, oldest first: the line of each.")
        .lists::<TimeRange, OrderItemView>()
        .refuses(&[Kind::NotFound])
}
