//! `GET /customers/{customerId}/cart`: what a customer means to buy.

use http_api::{Answer, CartView, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::layout::CartOfCustomer;
use key_schema::value::Timestamp;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/cart", Scope::Shop);

/// DynamoDB deletes an expired cart within days; here it is gone at once.
pub async fn handle(table: Reader, request: Request) -> Answer {
    let customer = request.own_customer()?;
    match table.one(&CartOfCustomer { customer: &customer }).await? {
        Some(cart) if !cart.is_expired(Timestamp::now()) => {
            let version = cart.version();
            Ok(Reply::ok(&CartView::from(cart))?.etag(version))
        }
        _ => Err(Problem::not_found("cart")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("The cart of a customer.").versioned().answers::<CartView>().refuses(&[Kind::NotFound])
}
