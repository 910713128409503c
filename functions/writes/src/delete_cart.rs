//! `DELETE /customers/{customerId}/cart`: deletes a cart.

use http_api::{Answer, Example, IfMatch, OwnCustomer, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::Cart;
use key_schema::value::Timestamp;
use table::{Budget, Condition, Write, Writer, Written, read_item};

use crate::carts::is_gone;

pub const ROUTE: Route = Route::delete("/customers/{customerId}/cart", Scope::Shop)
    .summary("Delete a cart.")
    .access(&[Access::delete::<Cart>()])
    .example(Example::at("09:43:20").path("ada"));

/// Succeeds if there is no cart, also for an erased customer, whose item stays. If `If-Match` names a version, a cart with
/// another version is not deleted: another device may have written it in the meantime.
pub async fn handle(
    table: Writer,
    OwnCustomer(customer): OwnCustomer,
    if_match: Option<IfMatch>,
    budget: Budget,
) -> Answer<()> {
    let key = Cart::key_of(&customer);
    let write = match if_match {
        None => Write::delete_if(key, Condition::not_erased()),
        Some(if_match) => {
            let is_meant = is_gone(Timestamp::now())?.or(Condition::versions(if_match.versions())?);
            Write::delete_if(key, is_meant.and(Condition::not_erased()))
        }
    };
    match table.write(write, budget).await? {
        Written::ConditionFailed(Some(other)) => match read_item::<Cart>(other)? {
            other if other.is_erased() => Ok(()),
            other => Err(Problem::version_conflict(other.version)),
        },
        Written::Done | Written::ConditionFailed(None) => Ok(()),
    }
}
