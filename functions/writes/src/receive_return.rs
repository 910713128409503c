//! `POST /returns/{returnId}/receipt`: records that staff received a return, or refused it.

use http_api::{Answer, Example, Json, Kind, Path, Problem, Replayable, ReturnView, Route, Scope};
use key_schema::value::{Name, ReturnId};
use ordering::steps::{Receipt, ReturnVerdict, Transition};
use ordering::{Lifecycle, ReturnShipping, Target};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::{changed, units};

pub const ROUTE: Route = Route::post("/returns/{returnId}/receipt", Scope::Admin)
    .summary(
        "Record, once, that a return was received or refused. If it was received, the customer is credited for its \
             units, and for the last ones of the order with the price of shipping: gift cards have their share at \
             once, and a payment that was captured becomes refundDue.",
    )
    .refuses(&[Kind::NotFound, Kind::InvalidTransition])
    .access(ordering::RECEIVE_RETURN)
    .example(
        Example::at("09:51:58")
            .path("ret-ccc44633-c523-5b35-9669-978f6b6bc252-9e6287636cf904d7")
            .body(r#"{"accepted":true,"restock":false}"#),
    );

/// A return that came back, or that is refused.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReceipt {
    /// Whether the customer is credited.
    accepted: bool,
    /// Whether the units go back to the stock. Required if the return is accepted.
    restock: Option<bool>,
    /// The reason of a refusal. Required if the return is not accepted.
    reason: Option<Name>,
}

pub async fn handle(
    (orders, ReturnShipping(with_shipping)): (Lifecycle, ReturnShipping),
    Path(id): Path<ReturnId>,
    Json(NewReceipt { accepted, restock, reason }): Json<NewReceipt>,
    budget: Budget,
) -> Answer<Replayable<Json<ReturnView>>> {
    let reason = reason.map(String::from);
    let verdict = match (accepted, restock, &reason) {
        (true, Some(restock), None) => ReturnVerdict::Accept { restock, with_shipping },
        (false, None, Some(reason)) => ReturnVerdict::Refuse { reason },
        (true, ..) => return Err(Problem::invalid("An accepted return needs restock, and has no reason.")),
        (false, ..) => return Err(Problem::invalid("A refused return needs a reason, and has no restock.")),
    };
    let receipt = Transition::ReceiveReturn(Receipt { id: &id, verdict });
    let received = orders.change(Target::Return(&id), receipt, budget).await?;
    changed::answer(received, "return", |whole| units::return_of(whole, &id))
}
