//! `POST /invoices/{invoiceId}/payments`: the bank has taken the card's part of an invoice.

use http_api::{Answer, Description, InvoiceView, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::value::{InvoiceId, Name};
use ordering::{Transitioned, Lifecycle};
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/payments", Scope::Admin);

/// A payment that the bank has taken.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// What the bank calls it.
    reference: Name,
}

/// What the bank has taken is recorded, also when the order was cancelled meanwhile: then it is to be given back.
pub async fn handle(orders: Lifecycle, request: Request) -> Answer {
    let id: InvoiceId = request.path("invoiceId")?;
    let Capture { reference } = request.json()?;

    match orders.capture(&id, &String::from(reference), request.budget()).await? {
        Transitioned::Done(order) => Reply::ok(&InvoiceView::from(order.invoice)),
        Transitioned::DoneBefore(order) => Ok(Reply::ok(&InvoiceView::from(order.invoice))?.replayed(true)),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::NotFound => Err(Problem::not_found("invoice")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Record that the bank has taken the card payment of an invoice, once. Its order is paid then. If the order was \
             cancelled meanwhile, the payment's status becomes refundDue.")
        .accepts::<Capture>()
        .replays()
        .answers::<InvoiceView>()
        .refuses(&[Kind::NotFound, Kind::InvalidTransition])
}
