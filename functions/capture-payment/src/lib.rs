//! `POST /invoices/{invoiceId}/payments`: the bank has taken the card's part of an invoice.

use edge::{Answer, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::Invoice;
use key_schema::layout::InvoiceById;
use key_schema::value::Name;
use ordering::{Change, Lifecycle};
use serde::Deserialize;
use table::Reader;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/payments", Scope::Admin);

/// A payment that the bank has taken.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// What the bank calls it.
    reference: Name,
}

/// The index leads from the invoice to its order; what is decided is decided on the order itself.
pub async fn handle((table, orders): (Reader, Lifecycle), request: Request) -> Answer {
    let id = request.path("invoiceId")?;
    let Capture { reference } = request.json()?;
    let invoice = table.one(&InvoiceById { id: &id }).await?.ok_or_else(|| Problem::not_found("invoice"))?;

    match orders.capture(&invoice.order_id, &String::from(reference), request.budget()).await? {
        Change::Done(order) => Reply::ok(&order.invoice),
        Change::DoneBefore(order) => Ok(Reply::ok(&order.invoice)?.replayed(true)),
        Change::Refused(status) => Err(Problem::invalid_transition(status)),
        Change::NotFound => Err(Problem::not_found("invoice")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Capture the authorized card payment of an invoice, once. Its order is paid then.")
        .accepts::<Capture>()
        .replays()
        .answers::<Invoice>()
        .refuses(&[Kind::NotFound, Kind::InvalidTransition])
}
