//! Who may see what a route shows: a customer, a guest whom a customer has claimed, an order of theirs.

use http_api::{Answer, Caller, CustomerOrGuest, Problem};
use key_schema::entity::WholeOrder;
use key_schema::layout::OrderState;
use key_schema::value::{CustomerId, OrderId};
use table::{Budget, Reader};

/// The owner in the path, if the caller [may access](Reader::may_access) what is theirs. Otherwise, there is no such
/// customer.
pub(crate) async fn seen(table: &Reader, CustomerOrGuest { id, caller }: CustomerOrGuest) -> Answer<CustomerId> {
    if table.may_access(caller.customer(), &id).await? { Ok(id) } else { Err(Problem::not_found("customer")) }
}

/// The order, if the caller may see it and it is placed. An order in the queue is the problem `not-placed`.
pub(crate) async fn placed(table: &Reader, order: &OrderId, caller: &Caller, budget: Budget) -> Answer<WholeOrder> {
    match table.order_seen_by(order, caller.customer(), budget).await? {
        Some(OrderState::Placed(whole)) => Ok(*whole),
        Some(OrderState::Queued(queued)) => Err(Problem::not_placed(&queued)),
        None => Err(Problem::not_found("order")),
    }
}
