//! `POST /invoices/{invoiceId}/payments`: captures an authorized card payment, or records a bank transfer.

use http_api::{Answer, Example, InvoiceView, Json, Kind, OptionalJson, Path, Problem, Replayable, Route, Scope};
use key_schema::value::{Charge, InvoiceId, Name};
use ordering::steps::Transition;
use ordering::{Lifecycle, Target};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::changed;

pub const ROUTE: Route = Route::post("/invoices/{invoiceId}/payments", Scope::Admin)
    .summary(
        "With a reference: record, once, that an invoice was paid by bank transfer. The order becomes PAID. If the order \
             was cancelled in the meantime, the payment's status becomes refundDue. Without a reference: ask the payment \
             provider to capture the authorized payment, which happens within a minute or so.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition])
    .access(table::INVOICE)
    .access(ordering::REQUEST_CAPTURE)
    .access(ordering::CAPTURE)
    .example(
        Example::at("09:50:40")
            .path("inv-ccc44633-c523-5b35-9669-978f6b6bc252")
            .body(r#"{"reference":"bank-20261121-0042"}"#),
    );

/// A payment that the bank has captured, or the request to capture an authorized one.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The bank's reference for the payment. Absent if the payment provider has authorized the payment.
    reference: Option<Name>,
    /// The amount. If it is given and is not what is missing, nothing is recorded, and the answer says what is missing.
    amount: Option<Charge>,
}

/// A payment is recorded even if its order was cancelled in the meantime: it then has to be refunded.
pub async fn handle(
    orders: Lifecycle,
    Path(id): Path<InvoiceId>,
    OptionalJson(Capture { reference, amount }): OptionalJson<Capture>,
    budget: Budget,
) -> Answer<Replayable<Json<InvoiceView>>> {
    let reference = reference.map(String::from);
    if reference.is_none() && amount.is_some() {
        return Err(Problem::invalid("amount: has no meaning without a reference"));
    }
    let capture = match &reference {
        Some(reference) => Transition::Capture { reference, amount: amount.map(Into::into) },
        None => Transition::RequestCapture,
    };
    let captured = orders.change(Target::Invoice(&id), capture, budget).await?;
    changed::answer(captured, "invoice", |order| Ok(order.invoice.into()))
}
