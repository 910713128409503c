//! The owner of what a route shows: a customer, or a guest whom a customer has claimed.

use http_api::{Answer, CustomerOrGuest, Problem};
use key_schema::value::CustomerId;
use table::Reader;

/// The owner in the path, if the caller [may access](Reader::may_access) what is theirs. Otherwise, there is no such
/// customer.
pub(crate) async fn seen(table: &Reader, CustomerOrGuest { id, caller }: CustomerOrGuest) -> Answer<CustomerId> {
    if table.may_access(caller.customer(), &id).await? { Ok(id) } else { Err(Problem::not_found("customer")) }
}
