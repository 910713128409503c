//! `POST /invoices/{invoiceId}/payments`: records that the bank has captured the card payment of an invoice.

use http_api::{Answer, Example, InvoiceView, Json, Kind, Path, Problem, Replayable, Route, Scope};
use key_schema::value::{InvoiceId, Name};
use ordering::{Lifecycle, Transitioned};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/payments", Scope::Admin)
    .summary(
        "Record, once, that the bank has captured the card payment of an invoice. The order becomes PAID. If the order \
         was cancelled in the meantime, the payment's status becomes refundDue.",
    )
    .refuses(&[Kind::NotFound, Kind::InvalidTransition])
    .access(table::INVOICE)
    .access(ordering::CAPTURE)
    .example(
        Example::at("09:50:40")
            .path("inv-ccc44633-c523-5b35-9669-978f6b6bc252")
            .body(r#"{"reference":"bank-20261121-0042"}"#),
    );

/// A card payment that the bank has captured.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The bank's reference for the payment.
    reference: Name,
}

/// A payment is recorded even if its order was cancelled in the meantime: it then has to be refunded.
pub async fn handle(
    orders: Lifecycle,
    Path(id): Path<InvoiceId>,
    Json(Capture { reference }): Json<Capture>,
    budget: Budget,
) -> Answer<Replayable<Json<InvoiceView>>> {
    match orders.capture(&id, &String::from(reference), budget).await? {
        Transitioned::Done(order) => Ok(Replayable::first(Json(order.invoice.into()))),
        Transitioned::DoneBefore(order) => Ok(Replayable::again(Json(order.invoice.into()))),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::NotFound => Err(Problem::not_found("invoice")),
    }
}
