//! `POST /invoices/{invoiceId}/refunds`: a customer has got back the card payment of a cancelled order.

use http_api::{Answer, Description, InvoiceView, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::value::{InvoiceId, Name};
use ordering::{Transitioned, Lifecycle};
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/refunds", Scope::Admin);

/// A refund that the bank has made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Refund {
    /// What the bank calls it.
    reference: Name,
}

pub async fn handle(orders: Lifecycle, request: Request) -> Answer {
    let id: InvoiceId = request.path("invoiceId")?;
    let Refund { reference } = request.json()?;

    match orders.confirm_refund(&id, &String::from(reference), request.budget()).await? {
        Transitioned::Done(order) => Reply::ok(&InvoiceView::from(order.invoice)),
        Transitioned::DoneBefore(order) => Ok(Reply::ok(&InvoiceView::from(order.invoice))?.replayed(true)),
        Transitioned::Refused(status) => {
            Err(Problem::new(Kind::InvalidTransition, "No refund of this invoice is due.").with("orderStatus", status))
        }
        Transitioned::NotFound => Err(Problem::not_found("invoice")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Record that the card payment of a cancelled order was given back, once. It must be refundDue.")
        .accepts::<Refund>()
        .replays()
        .answers::<InvoiceView>()
        .refuses(&[Kind::NotFound, Kind::InvalidTransition])
}
