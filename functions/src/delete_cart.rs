//! `DELETE /customers/{customerId}/cart`: throws a cart away.

use http_api::{Answer, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::Cart;
use key_schema::value::Timestamp;
use table::{Condition, Error, Write, Writer, Written, read_item};

pub const ROUTE: Route = Route::delete("/customers/{customerId}/cart", Scope::Shop);

/// Also when there is none: afterwards there is none. If `If-Match` names a version, no other cart is thrown away, as one
/// that another device has put down meanwhile.
pub async fn handle(table: Writer, request: Request) -> Answer {
    let customer = request.own_customer()?;
    let key = Cart::key_of(&customer);
    let write = match request.if_match_if_any()? {
        None => Write::delete(key),
        Some(if_match) => Write::delete_if(key, is_gone(Timestamp::now())?.or(if_match.condition()?)),
    };
    match table.write(write, request.budget()).await? {
        Written::ConditionFailed(Some(other)) => Err(Problem::version_conflict(read_item::<Cart>(other)?.version())),
        Written::Done | Written::ConditionFailed(None) => Ok(Reply::no_content()),
    }
}

/// There is no cart, or an expired one: DynamoDB deletes it some time after that.
fn is_gone(now: Timestamp) -> Result<Condition, Error> {
    Condition::absent().or(Condition::new("#expiresAt <= :now")).value(":now", now.as_second())
}

pub fn describe() -> Description {
    ROUTE
        .describe("Throw a cart away.")
        .if_match_if_any("whatever is there is thrown away")
        .done()
        .refuses(&[Kind::NotFound])
}
