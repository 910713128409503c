//! `GET /customers/{customerId}`: a customer, with what the orders add up to.

use http_api::{Answer, CustomerView, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::layout::CustomerById;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let id = request.own_customer()?;
    let items = table.collection(&CustomerById { id: &id }).await?;

    let (customer, stats) = CustomerById::assemble(items).ok_or_else(|| Problem::not_found("customer"))?;
    let version = customer.version;
    Ok(Reply::ok(&CustomerView::new(customer, stats))?.etag(version))
}

pub fn describe() -> Description {
    ROUTE.describe("A customer.").versioned().answers::<CustomerView>().refuses(&[Kind::NotFound])
}
