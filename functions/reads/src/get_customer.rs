//! `GET /customers/{customerId}`: one customer, with the counts and sums of their orders.

use http_api::{Answer, CustomerView, Example, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::{CUSTOMER_BY_ID, InCustomer};
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}", Scope::Shop)
    .summary("A customer.")
    .access(&[Access::query(CUSTOMER_BY_ID)])
    .example(Example::at("09:32:40").path("ada"));

pub async fn handle(table: Reader, OwnCustomer(id): OwnCustomer) -> Answer<Versioned<CustomerView>> {
    let items = table.collection(&CUSTOMER_BY_ID.ask(&id)).await?;

    let (customer, stats) = InCustomer::assemble(items).ok_or_else(|| Problem::not_found("customer"))?;
    Ok(Versioned::new(customer.version, CustomerView::new(customer, stats)))
}
