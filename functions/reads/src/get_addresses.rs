//! `GET /customers/{customerId}/addresses`: the address book of a customer.

use http_api::{AddressesView, Answer, Example, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::ADDRESSES_OF_CUSTOMER;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/addresses", Scope::Shop)
    .summary("The address book of a customer.")
    .access(&[Access::query(ADDRESSES_OF_CUSTOMER)])
    .example(Example::at("09:34:20").path("ada"));

pub async fn handle(table: Reader, OwnCustomer(customer): OwnCustomer) -> Answer<Versioned<AddressesView>> {
    match table.one(&ADDRESSES_OF_CUSTOMER.ask(&customer)).await? {
        Some(book) => Ok(Versioned::new(book.version, AddressesView::from(book))),
        None => Err(Problem::not_found("address book")),
    }
}
