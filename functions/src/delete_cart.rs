//! `DELETE /customers/{customerId}/cart`: throws a cart away.

use http_api::{Answer, Example, IfMatch, OwnCustomer, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::Cart;
use key_schema::value::Timestamp;
use table::{Budget, Condition, Error, Write, Writer, Written, read_item};

pub const ROUTE: Route = Route::delete("/customers/{customerId}/cart", Scope::Shop)
    .summary("Throw a cart away.")
    .access(&[Access::delete::<Cart>()])
    .example(Example::at("09:43:20").path("ada"));

/// Also when there is none: afterwards there is none. If `If-Match` names a version, no other cart is thrown away, as one
/// that another device has put down meanwhile.
pub async fn handle(
    table: Writer,
    OwnCustomer(customer): OwnCustomer,
    if_match: Option<IfMatch>,
    budget: Budget,
) -> Answer<()> {
    let key = Cart::key_of(&customer);
    let write = match if_match {
        None => Write::delete(key),
        Some(if_match) => Write::delete_if(key, is_gone(Timestamp::now())?.or(if_match.condition()?)),
    };
    match table.write(write, budget).await? {
        Written::ConditionFailed(Some(other)) => Err(Problem::version_conflict(read_item::<Cart>(other)?.version())),
        Written::Done | Written::ConditionFailed(None) => Ok(()),
    }
}

/// There is no cart, or an expired one: DynamoDB deletes it some time after that.
fn is_gone(now: Timestamp) -> Result<Condition, Error> {
    Condition::absent().or(Condition::new("#expiresAt <= :now")).value(":now", now.as_second())
}
