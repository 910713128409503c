//! The owner of what a route shows: a customer, or a guest whom a customer has claimed.

use http_api::{Answer, CustomerOrGuest, Problem};
use key_schema::value::CustomerId;
use table::Reader;

/// The owner in the path, if the table [lets the caller in](Reader::lets_in). Otherwise, there is no such customer.
pub(crate) async fn seen(table: &Reader, CustomerOrGuest { id, caller }: CustomerOrGuest) -> Answer<CustomerId> {
    if table.lets_in(caller.customer(), &id).await? { Ok(id) } else { Err(Problem::not_found("customer")) }
}
