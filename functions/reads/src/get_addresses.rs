//! `GET /customers/{customerId}/addresses`: the address book of a customer.

use http_api::{AddressesView, Answer, Example, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::AddressesOfCustomer;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/addresses", Scope::Shop)
    .summary("The address book of a customer.")
    .access(&[Access::query::<AddressesOfCustomer>()])
    .example(Example::at("09:34:20").path("ada"));

pub async fn handle(table: Reader, OwnCustomer(customer): OwnCustomer) -> Answer<Versioned<AddressesView>> {
    match table.one(&AddressesOfCustomer { customer: &customer }).await? {
        Some(book) => Ok(Versioned::new(book.version, AddressesView::from(book))),
        None => Err(Problem::not_found("address book")),
    }
}
