//! `POST /invoices/{invoiceId}/write-offs`: the shop goes without money of a card payment that it misses.

use http_api::{Answer, Example, InvoiceView, Json, Kind, OptionalJson, Path, Problem, Replayable, Route, Scope};
use key_schema::value::{Charge, InvoiceId};
use ordering::steps::Transition;
use ordering::{Lifecycle, Target, Transitioned};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::changed;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/write-offs", Scope::Admin)
    .summary(
        "Decide, once, that the shop goes without the money that it misses of a paid order: the authorization \
             lapsed, a dispute was lost, somebody refunded the payment in the provider's dashboard, or the provider \
             refuses the capture. The order can then be shipped. If nothing is missing, nothing changes.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition])
    .access(table::INVOICE)
    .access(ordering::WRITE_OFF)
    .example(Example::at("09:52:30").path("inv-9375d7e6-a688-5d10-8541-7fecc5582493").body("{}"));

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteOff {
    /// The amount. If it is given and is not what is missing, nothing is written off, and the answer says what is missing.
    amount: Option<Charge>,
}

pub async fn handle(
    orders: Lifecycle,
    Path(id): Path<InvoiceId>,
    OptionalJson(WriteOff { amount }): OptionalJson<WriteOff>,
    budget: Budget,
) -> Answer<Replayable<Json<InvoiceView>>> {
    let write_off = Transition::WriteOff { amount: amount.map(Into::into) };
    let written_off = orders.change(Target::Invoice(&id), write_off, budget).await?;
    if let Transitioned::Refused(status) = written_off {
        let detail = "The order is not paid yet: cancel it instead.";
        return Err(Problem::new(Kind::InvalidTransition, detail).with("orderStatus", status));
    }
    changed::answer(written_off, "invoice", |order| Ok(order.invoice.into()))
}
