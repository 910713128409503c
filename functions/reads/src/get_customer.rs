//! `GET /customers/{customerId}`: one customer, with the counts and sums of their orders.

use http_api::{Answer, CustomerView, Example, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::CustomerById;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}", Scope::Shop)
    .summary("A customer.")
    .access(&[Access::query::<CustomerById>()])
    .example(Example::at("09:32:40").path("ada"));

pub async fn handle(table: Reader, OwnCustomer(id): OwnCustomer) -> Answer<Versioned<CustomerView>> {
    let items = table.collection(&CustomerById { id: &id }).await?;

    let (customer, stats) = CustomerById::assemble(items).ok_or_else(|| Problem::not_found("customer"))?;
    Ok(Versioned::new(customer.version, CustomerView::new(customer, stats)))
}
