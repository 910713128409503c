//! `GET /customers/{customerId}/cart`: the cart of a customer.

use http_api::{Answer, CartView, Example, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::CART_OF_CUSTOMER;
use key_schema::value::Timestamp;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/cart", Scope::Shop)
    .summary("The cart of a customer. Without one, it is an empty cart, whose `ETag` a PUT may name.")
    .access(&[Access::query(CART_OF_CUSTOMER)])
    .example(Example::at("09:42:40").path("ada"));

/// DynamoDB may delete an expired cart only days later. For clients, the cart is gone at once.
pub async fn handle(table: Reader, OwnCustomer(customer): OwnCustomer) -> Answer<Versioned<CartView>> {
    match table.one(&CART_OF_CUSTOMER.ask(&customer)).await? {
        Some(cart) if !cart.is_absent(Timestamp::now()) => Ok(Versioned::new(cart.version, CartView::from(cart))),
        Some(cart) if cart.is_erased() => Err(Problem::not_found("cart")),
        _ => Ok(Versioned::new(0, CartView::empty())),
    }
}
