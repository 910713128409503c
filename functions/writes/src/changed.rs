//! The answer to a change of an order.

use http_api::{Answer, Json, Problem, Replayable};
use key_schema::entity::WholeOrder;
use ordering::Transitioned;

use crate::units;

/// What the client is shown of the changed order, or the problem that prevented the change.
///
/// `named` is what the path names: an order, or a thing that an order has.
///
/// # Errors
/// The order does not allow the change; there is no such order; or `view` fails.
pub(crate) fn answer<V>(
    change: Transitioned,
    named: &str,
    view: impl FnOnce(WholeOrder) -> Answer<V>,
) -> Answer<Replayable<Json<V>>> {
    match change {
        Transitioned::Done(whole) => Ok(Replayable::first(Json(view(whole)?))),
        Transitioned::DoneBefore(whole) => Ok(Replayable::again(Json(view(whole)?))),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::Denied(denial) => Err(units::denied(denial)),
        Transitioned::NotPlaced(queued) => Err(Problem::not_placed(&queued)),
        Transitioned::NotFound => Err(Problem::not_found(named)),
    }
}
