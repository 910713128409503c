//! `GET /customers/{customerId}/cart`: the cart of a customer.

use catalogue::products;
use http_api::{Answer, CartView, Example, OwnCustomer, Problem, Route, Scope, Versioned};
use images::Urls;
use key_schema::access::Access;
use key_schema::layout::CART_OF_CUSTOMER;
use key_schema::value::Timestamp;
use table::{Budget, Error, Reader};

pub const ROUTE: Route = Route::get("/customers/{customerId}/cart", Scope::Shop)
    .summary("The cart of a customer. Without one, it is an empty cart, whose `ETag` a PUT may name.")
    .access(&[Access::query(CART_OF_CUSTOMER)])
    .access(catalogue::READ_PRODUCTS)
    .example(Example::at("09:42:40").path("ada"));

/// DynamoDB may delete an expired cart only days later. For clients, the cart is gone at once.
pub async fn handle(
    (table, urls): (Reader, Urls),
    OwnCustomer(customer): OwnCustomer,
    budget: Budget,
) -> Answer<Versioned<CartView>> {
    let cart = match table.one(&CART_OF_CUSTOMER.ask(&customer)).await? {
        Some(cart) if !cart.is_absent(Timestamp::now()) => cart,
        Some(cart) if cart.is_erased() => return Err(Problem::not_found("cart")),
        _ => return Ok(Versioned::new(0, CartView::empty())),
    };
    let version = cart.version;
    let (products, _) = products(&table, cart.lines.iter().map(|line| &line.product_id), None, budget).await?;
    let view = CartView::new(cart, products, |product| urls.thumbnail(product));
    Ok(Versioned::new(version, view.ok_or(Error::Inconsistent("a product of a cart is not in the table"))?))
}
