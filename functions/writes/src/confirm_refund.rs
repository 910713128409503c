//! `POST /invoices/{invoiceId}/refunds`: records that money of a card payment was refunded.

use http_api::{Answer, Example, InvoiceView, Json, Kind, Path, Problem, Replayable, Route, Scope};
use key_schema::value::{Charge, InvoiceId, Name};
use ordering::steps::Transition;
use ordering::{Lifecycle, Target, Transitioned};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::changed;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/refunds", Scope::Admin)
    .summary(
        "Record, once, that staff refunded all that they owe of a payment at this moment: of a bank transfer, or because \
             the payment provider cannot make the refund.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition])
    .access(table::INVOICE)
    .access(ordering::CONFIRM_REFUND)
    .example(
        Example::at("09:52:20")
            .path("inv-9375d7e6-a688-5d10-8541-7fecc5582493")
            .body(r#"{"reference":"back-20261121-0007"}"#),
    );

/// A refund that the bank has made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Refund {
    /// The bank's reference for the refund.
    reference: Name,
    /// The amount. If it is given and is not what is due, nothing is recorded, and the answer says what is due.
    amount: Option<Charge>,
}

pub async fn handle(
    orders: Lifecycle,
    Path(id): Path<InvoiceId>,
    Json(Refund { reference, amount }): Json<Refund>,
    budget: Budget,
) -> Answer<Replayable<Json<InvoiceView>>> {
    let refund = Transition::ConfirmRefund { reference: &String::from(reference), amount: amount.map(Into::into) };
    let confirmed = orders.change(Target::Invoice(&id), refund, budget).await?;
    if let Transitioned::Refused(status) = confirmed {
        return Err(
            Problem::new(Kind::InvalidTransition, "No refund of this invoice is due.").with("orderStatus", status)
        );
    }
    changed::answer(confirmed, "invoice", |order| Ok(order.invoice.into()))
}
